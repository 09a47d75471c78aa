"""Recognises how an assistant is told to do things from now on."""

from strandline.domain.rules.patterns import any_of, compiled

_INSTRUCTION = compiled(
    r"(?:please )?"
    + any_of(
        "always never from_now_on don't_use don't_add don't_write don't_ever do_not in_future in_the_future"
    )
    + r"\b",
    r".{0,200}\b" + any_of("from_now_on going_forward in_the_future at_all_times") + r"\b",
    r"(?:no,? )?(?:please )?use .{1,80} instead\b",
    r"(?:请|以后)(?:总是|始终|不要|别|用)",
)


def is_instruction(sentence: str) -> bool:
    """Whether it tells an assistant how things are to be done from now on."""
    return _INSTRUCTION.match(sentence) is not None
