"""The routes of a scrub, and every kind of canary in every store, by HTTP."""

import pytest

from strandline.domain.screening import Redaction
from tests.canaries import CANARIES, Canary
from tests.handlers.service import Client, Service
from tests.handlers.test_canaries import Lookout, messages
from tests.handlers.test_canaries import alice as alice
from tests.handlers.test_canaries import lookout as lookout
from tests.pipeline.world import HEAL_SECONDS


def redaction(service: Service, mode: Redaction) -> None:
    """From now on the deployment does that."""
    service.configure(STRANDLINE_REDACTION=mode.value)


def finish(service: Service) -> None:
    for _ in range(3):
        service.pump()
        service.world.clock.advance(HEAL_SECONDS + 1)
        service.sweep()
    service.pump()


# what is no secret any more without what stood around it, once a name, a cut or an escape has taken that away
SPLIT = {
    "password/escaped",
    "private_key/spelt_out",
    "private_key/cut_behind",
    "private_key/cut_before",
    "private_key",
}


@pytest.mark.parametrize("kind", list(CANARIES))
def test_nothing_that_leaked_is_found_after_a_scrub(lookout: Lookout, alice: Client, kind: str) -> None:
    canary, service = CANARIES[kind], lookout.service
    redaction(service, Redaction.OFF)
    leak(service, alice, canary)
    assert lookout.found()
    redaction(service, Redaction.REDACT)
    begun = alice.post("/scrubs", {})
    finish(service)
    done = alice.get(f"/scrubs/{begun.result['scrub_id']}")
    assert (done.result["status"], done.result["unreadable"]) == ("completed", {})
    assert {kind.partition("/")[0]} <= done.result["findings"].keys() | {"secret", "token"}
    lookout.saw(done)
    for path in (
        "/sessions/made",
        "/sessions/made/messages?limit=1000",
        "/memories",
        "/memories/topics/mine.md",
    ):
        lookout.saw(alice.get(path))
    lookout.saw(alice.post("/search/find", {"query": "cello password token"}))
    assert lookout.found() == []


def leak(service: Service, alice: Client, canary: Canary) -> None:
    alice.create("made", metadata={"note": canary.text})
    for message in messages(canary.text):
        assert alice.post("/sessions/made/messages", message).status == 200
    assert alice.put("/memories/topics/mine.md", {"content": f"# Mine\n\n{canary.text}\n"}).status == 200
    alice.commit("made")
    service.pump()
    assert alice.append("made", canary.text).status == 200


def test_whose_scrub_it_is(lookout: Lookout, alice: Client) -> None:
    service = lookout.service
    bob = service.client("bob")
    alice.append("s", "hello")
    begun = alice.post("/scrubs", {"session_id": "s", "dry_run": True}).result
    assert (begun["status"], begun["stage"], begun["session_id"], begun["dry_run"]) == (
        "running",
        "look 1/2",
        "s",
        True,
    )
    service.pump()
    path = f"/scrubs/{begun['scrub_id']}"
    done = alice.get(path).result
    assert (done["status"], done["stage"], done["objects"]["sessions"]) == ("completed", "done", 1)
    assert bob.get(path).refusal == (404, "NOT_FOUND")
    admin = service.root.acting(x_strandline_account="acme", x_strandline_user="alice")
    assert admin.get(path).result == done
    assert alice.post("/scrubs", {"session_id": "none"}).refusal == (404, "NOT_FOUND")
    assert alice.acting(x_strandline_actor_peer="Ann").post("/scrubs").refusal[0] == 403
