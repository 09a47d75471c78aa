"""Commits that nobody asked for, spoilt."""

from dataclasses import replace

from tests.sim.healthy import POLICY, Healthy
from tests.sim.spoils import spoils

LONG_AGO, FAR = "2025-01-01T00:00:00.000Z", 10**15


def marker(it: Healthy) -> dict[str, object]:
    return next(dict(row) for row in it.world.rows("IDLE#") if row["session"]["session_id"] == "auto")


@spoils("silent_sessions_are_marked")
def a_marker_is_lost(it: Healthy) -> None:
    it.world.items.delete(str(marker(it)["pk"]), str(marker(it)["sk"]))


@spoils("silent_sessions_are_marked")
def a_head_names_no_marker(it: Healthy) -> None:
    it.set_head("auto", mark=None)


@spoils("markers_of_no_use_go")
def a_marker_of_no_use(it: Healthy) -> None:
    it.world.items.put({**marker(it), "sk": "x", "mark": "x", "since": LONG_AGO})


@spoils("nothing_waits_longer_than_it_may")
def a_message_waits_for_ever(it: Healthy) -> None:
    it.set_head("auto", live_since=LONG_AGO)


@spoils("no_lease_is_held")
def a_lease_is_held(it: Healthy) -> None:
    it.world.items.put({"pk": "LEASES#acme/alice", "sk": "x", "until": FAR})


@spoils("automatic_commits_are_written_down")
def an_automatic_commit_is_not_written_down(it: Healthy) -> None:
    it.set_head("auto", last_auto_commit_at=None)


@spoils("automatic_commits_are_written_down")
def a_failure_outlives_the_next_success(it: Healthy) -> None:
    it.set_head("auto", auto_commit_last_error="no", auto_commit_last_error_at=LONG_AGO)


@spoils("an_automatic_commit_was_due")
def an_automatic_commit_came_too_early(it: Healthy) -> None:
    it.set_head("auto", auto_commit_policy=replace(POLICY, message_count_threshold=9).to_dict())
