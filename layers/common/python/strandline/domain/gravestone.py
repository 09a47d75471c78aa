"""What stays of a deleted session, so that nothing of it comes back: its head, empty, with the time of its deletion."""

from dataclasses import replace

from strandline.domain.session import Head


def born(head: Head, grave: Head | None) -> Head:
    """The first head of a session, which knows of the gravestone that it takes the place of."""
    return head if grave is None else replace(head, follows=grave.buried_at)


def deleted_at(head: Head | None) -> str | None:
    """When a session of this id was deleted last, if its gravestone, or its successor, says so."""
    return None if head is None else head.buried_at or head.follows


def bury(head: Head, *, now: str) -> Head:
    """What is left of a deleted session: the incarnation that must not come back, and nothing that was said."""
    return Head(
        account_id=head.account_id,
        user_id=head.user_id,
        session_id=head.session_id,
        incarnation=head.incarnation,
        created_at=head.created_at,
        updated_at=now,
        commit_count=head.commit_count,
        follows=head.follows,
        buried_at=now,
    )
