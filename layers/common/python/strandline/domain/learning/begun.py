"""A task that an earlier archive names and a later one judges, as where a session is committed while its agent works.

It is taught where it is judged. The archive that names it has taught it by then as a run whose end is not known.
"""

from collections.abc import Sequence

from strandline.domain.learning.task import Message, judges, names


def judges_before_it_names(messages: Sequence[Message]) -> bool:
    """Whether an archive's messages judge a task before one is named among them: it may have begun earlier."""
    first = next((message for message in messages if names(message) or judges(message)), None)
    return first is not None and not names(first)


def begun_in(messages: Sequence[Message]) -> Sequence[Message] | None:
    """What an archive holds of the task that was going on at its end, from the message that names it on; nothing where
    that task was judged there; None where the archive neither names nor judges one."""
    for n in range(len(messages) - 1, -1, -1):
        if names(messages[n]):
            return messages[n:]
        if judges(messages[n]):
            return ()
    return None
