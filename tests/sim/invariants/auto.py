"""Commits that nobody asked for: that they come, that they come once, and what is written down of them."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from strandline.domain.auto_commit import AutoCommitPolicy, policy_of
from strandline.domain.session import Archive
from strandline.domain.times import parse
from tests.sim.history import Compacted, History
from tests.sim.invariants.raw import Raw, Session

SLACK = timedelta(hours=1)
SKEW = timedelta(seconds=5)
LEFT = timedelta(days=1, hours=1)


def silent_sessions_are_marked(raw: Raw, _: History) -> Iterator[str]:
    """A session with a policy and live messages names a due marker, and that is there: the sweep will find it."""
    marks = {(row["session"]["incarnation"], row["mark"]) for row in raw.partition("IDLE")}
    for session in raw.sessions:
        head = session.head
        if (
            head.auto_commit_policy is not None
            and session.live
            and (head.incarnation, head.mark) not in marks
        ):
            yield f"{session} has {len(session.live)} live messages and no marker: it names {head.mark}"


def markers_of_no_use_go(raw: Raw, _: History) -> Iterator[str]:
    """A marker that no head names is gone a day after it was put."""
    named = {(s.head.incarnation, s.head.mark) for s in raw.sessions}
    for row in raw.partition("IDLE"):
        of = (row["session"]["incarnation"], row["mark"])
        if of not in named and parse(row["since"]) + LEFT < raw.at:
            yield f"the marker {row['sk']} of {row['session']} has been of no use since {row['since']}"


def nothing_waits_longer_than_it_may(raw: Raw, history: History) -> Iterator[str]:
    """No session with a policy that has been silent for its time, and none whose oldest message has waited as long as
    the deployment lets it, has live messages."""
    for session in raw.sessions:
        policy = policy_of(session.head)
        if policy and session.live and max(_due(session, policy, history), _pause(session, policy)) < raw.at:
            yield f"{session}: {len(session.live)} messages wait since {session.head.last_message_at}"


def _due(session: Session, policy: AutoCommitPolicy, history: History) -> datetime:
    head = session.head
    due = parse(head.live_since or head.created_at) + timedelta(seconds=history.max_age_seconds)
    if history.idle_commits and policy.idle_timeout_seconds:
        silent = parse(head.last_message_at or head.created_at) + timedelta(
            seconds=policy.idle_timeout_seconds
        )
        due = min(due, silent)
    return due + SLACK


def _pause(session: Session, policy: AutoCommitPolicy) -> datetime:
    """As long as it is between two automatic commits at least."""
    last = session.head.last_auto_commit_at or session.head.created_at
    return parse(last) + timedelta(seconds=policy.min_commit_interval_seconds) + SLACK


def no_lease_is_held(raw: Raw, _: History) -> Iterator[str]:
    """Whoever had a lease has let go of it, or it has run out."""
    for row in raw.partition("LEASES"):
        if row["until"] > raw.now * 1000:
            yield f"{row['pk']} {row['sk']} is held until {row['until']}"


def _by_themselves(session: Session) -> Iterator[Archive]:
    """The archives of automatic commits of which the head still tells."""
    head = session.head
    known = {a.number: a for a in (*head.keyed, *head.pending, *head.failed) if a.task}
    yield from (known[number] for number in sorted(known))


def automatic_commits_are_written_down(raw: Raw, _: History) -> Iterator[str]:
    """The head says when the last one was, and of a failure only when there was none since."""
    for session in raw.sessions:
        head = session.head
        last = max((archive.at for archive in _by_themselves(session)), default=None)
        if last and head.last_auto_commit_at != last:
            yield f"{session}: the last automatic commit was at {last}, the head says {head.last_auto_commit_at}"
        failed, done = head.auto_commit_last_error_at, head.last_auto_commit_at
        if (failed is None) != (head.auto_commit_last_error is None) or (failed and done and failed < done):
            yield f"{session}: failed at {failed} ({head.auto_commit_last_error}), committed at {done}"


def an_automatic_commit_was_due(raw: Raw, history: History) -> Iterator[str]:
    """None is made for a threshold that another one has dealt with already: each has more messages than that, or more
    tokens, or its messages had waited long enough; or an agent has asked for a context."""
    by_agents = {(each.owner, each.session_id) for each in history.of(Compacted)}
    for session in raw.sessions:
        policy = policy_of(session.head)
        if (session.owner, session.head.session_id) in by_agents:
            continue
        for archive in _by_themselves(session) if policy else ():
            if (
                policy
                and not _over(session, policy, archive)
                and not _waited(session, policy, archive, history)
            ):
                yield f"{session}: archive {archive.number} ({archive.first}-{archive.last}) was not due"


def _over(session: Session, policy: AutoCommitPolicy, archive: Archive) -> bool:
    """Whether with what it had to keep it was over a threshold."""
    last = archive.last + policy.keep_recent_count
    live = [m for m in session.log if archive.first <= m.seq <= last]
    many = 0 < policy.message_count_threshold < len(live)
    return many or 0 < policy.pending_token_threshold < sum(m.tokens for m in live)


def _waited(session: Session, policy: AutoCommitPolicy, archive: Archive, history: History) -> bool:
    times = [parse(m.at) for m in session.archived if archive.first <= m.seq <= archive.last]
    idle, oldest = (parse(archive.at) - each(times) + SKEW for each in (max, min))
    silent = policy.idle_timeout_seconds and idle >= timedelta(seconds=policy.idle_timeout_seconds)
    return bool(silent or oldest >= timedelta(seconds=history.max_age_seconds))


INVARIANTS = (
    silent_sessions_are_marked,
    markers_of_no_use_go,
    nothing_waits_longer_than_it_may,
    no_lease_is_held,
    automatic_commits_are_written_down,
    an_automatic_commit_was_due,
)
