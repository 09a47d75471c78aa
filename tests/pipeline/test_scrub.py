"""A scrub of what was stored without redaction: no canary is left in any version of anything; nothing else is lost."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from strandline.domain import scrub as domain
from strandline.domain.compaction.state import ContextState
from strandline.domain.line import NO_QUOTE
from strandline.domain.message import MessageIn, TextPart, ToolPart, read_line
from strandline.domain.ranking.encoding import _decoded
from strandline.domain.screening import Redaction
from strandline.pipeline import memory, rebuild, scrub
from strandline.pipeline.append import AppendRequest, run_append
from strandline.pipeline.blame import read_blame
from strandline.storage.document import Change
from strandline.storage.layout import Life
from strandline.storage.log import ref
from tests.canaries import CANARIES, Canary
from tests.pipeline.erasing import heal
from tests.pipeline.faults import FAULTS, going_on
from tests.pipeline.world import ALICE, World

TOKEN, PASSWORD = CANARIES["github_token"], CANARIES["password/said"]
LONG = "x" * 40_000


def unredacted() -> World:
    """As a deployment was that redacted nothing."""
    world = World()
    world.rules = replace(world.rules, redaction=Redaction.OFF)
    return world


def redacting(world: World) -> World:
    world.rules = replace(world.rules, redaction=Redaction.REDACT)
    return world


def anything(_: object) -> None:
    """No guard."""


def leak(world: World, canary: Canary) -> None:
    """The canary in every store."""
    text = canary.text
    world.create("s", metadata={"note": text})
    world.remember("s", f"keys: {text}", f"tea: I like green tea. {text} It is so.", "pets: Rex is a dog")
    world.remember("t", "tea: I like black tea")
    tool = ToolPart(
        type="tool", tool_id="call", tool_name="sh", tool_input={"arg": [text]}, tool_output=f"{text}\n{LONG}"
    )
    said = [
        MessageIn(
            role="assistant", parts=[TextPart(type="text", text=text), tool], id="t1", metadata={"m": text}
        ),
        MessageIn(role="user", content=f"{LONG}\n{text}", id="t2"),
        MessageIn(role="user", content=f"{LONG}\n{text}", id="t3"),
        MessageIn(role="user", content=f"late: {text}", id="t4"),
    ]
    for message in said:
        run_append(world.services(), AppendRequest(ALICE, "s", [message]))
    services = world.services()
    memory.write(services, ALICE, "topics/mine.md", f"# Mine\n\n{text}\n", anything)
    memory.write(services, ALICE, "topics/mine.md", f"# Mine\n\nIt was {text}, too.\n", anything)
    memory.write(services, ALICE, "topics/other.md", "# Other\n\nBoats are green.\n", anything)
    whose = ref(world.head("s"))
    state = ContextState(whose.incarnation, last_error=text, handed_out={f"experiences/{text}.md": (1,)})
    services.contexts.update(Life(whose).context, lambda _: Change(state, None))
    begun = rebuild.begin(services, ALICE, rebuild.Wanted())
    rebuild.go_on(services, ALICE, begun.identity)
    services.tasks.note(ref(world.head("s")), "task-1", status="failed", error=f"no: {text}")
    world.items.put(
        {"pk": "REPLAYS#acme/alice", "sk": "k", "body": json.dumps({"result": text}), "token": "t"}
    )
    world.objects.put(ALICE.replay("kept"), json.dumps({"result": [text]}).encode())
    world.objects.put(ALICE.memory_type("mine", "md"), text.encode())
    world.objects.put(
        ALICE.memory("topics/hand.md"), f"---\nnobody_reads: {text!r}\n---\n\n# Hand\n".encode()
    )


def contents(world: World) -> Iterator[tuple[str, str]]:
    """Every version of everything, as text."""
    for key, entries in world.objects._entries.items():
        for entry in entries:
            body = entry.body or b""
            yield key, repr(_decoded(body)) if key.endswith(".idx") and body else body.decode()
    rows = [row for row in world.rows("") if not row["pk"].startswith("DUE#")]
    yield "items", json.dumps(rows, default=repr, ensure_ascii=False)


def places(world: World, canary: Canary) -> list[str]:
    """Where the canary is, in whatever letters."""
    secret = canary.secret.lower()
    return [where for where, text in contents(world) if secret in text.lower()]


def begin(world: World, **wanted: Any) -> str:
    return scrub.begin(world.services(), ALICE, **wanted).identity


def finish(world: World) -> None:
    """Until no scrub is going on."""
    heal(world, rounds=6)
    assert [row for row in world.rows("DUE#") if row["kind"] == "scrub"] == []


def shown(world: World, identity: str) -> dict[str, Any]:
    return domain.shown(scrub.look_at(world.services(), ALICE, identity))


def bodies(world: World) -> dict[str, bytes]:
    return {key: world.body(key) for key in world.stored()}


@pytest.mark.parametrize("canary", [TOKEN, PASSWORD], ids=["token", "password"])
def test_a_canary_is_found_nowhere_afterwards(canary: Canary) -> None:
    world = unredacted()
    leak(world, canary)
    stores = {"sessions", "memories", "index", "rebuilds", "replays", "types"}
    assert {key.split("/")[3] for key in places(world, canary) if "/" in key} == stores
    assert "items" in places(world, canary)
    parts = "head.json context.json /segments/ /tool-results/ /messages. candidates.json memory_diff.json"
    assert all(any(part in key for key in places(world, canary)) for part in parts.split())
    before = [(m["seq"], m["id"]) for m in messages(world)]
    redacting(world)
    identity = begin(world)
    finish(world)
    assert places(world, canary) == []
    assert [(m["seq"], m["id"]) for m in messages(world)] == before
    found = shown(world, identity)
    assert (found["status"], found["unreadable"], found["names"]) == ("completed", {}, {})
    assert found["changed"]["replays"] == 2
    assert found["changed"]["tasks"] == found["changed"]["types"] == 1
    assert found["changed"]["memories"] == 4  # keys, tea, mine, hand
    assert canary.secret not in json.dumps(found)


def test_it_says_what_it_found_and_a_dry_run_changes_nothing() -> None:
    world = redacting(unredacted())
    world.rules = replace(world.rules, redaction=Redaction.OFF)
    leak(world, TOKEN)
    redacting(world)
    before = bodies(world)
    identity = begin(world, dry_run=True)
    world.settle()
    found = shown(world, identity)
    assert found["status"] == "completed"
    assert found["findings"] == {"github_token": sum(found["changed"].values())}
    assert bodies(world) == before
    again = begin(world)
    finish(world)
    assert shown(world, again)["changed"] == found["changed"]
    assert shown(world, again)["objects"] == found["objects"]


def test_twice_changes_nothing_the_second_time() -> None:
    world = unredacted()
    leak(world, TOKEN)
    redacting(world)
    begin(world)
    finish(world)
    before, versions = bodies(world), len(list(contents(world)))
    identity = begin(world)
    finish(world)
    assert bodies(world) == before
    assert len(list(contents(world))) == versions
    found = shown(world, identity)
    assert found["changed"] == found["findings"] == found["versions"] == {}


def test_what_has_no_secret_stays_as_it_was() -> None:
    world = unredacted()
    leak(world, TOKEN)
    kept = {
        key: body
        for key, body in bodies(world).items()
        if "/sessions/t/" in key and not key.endswith(("head.json", "memory_diff.json"))
    }
    other = world.body(ALICE.memory("topics/other.md"))
    pets = world.body(ALICE.memory("preferences/pets.md"))
    redacting(world)
    begin(world)
    finish(world)
    after = bodies(world)
    assert kept and {key: after[key] for key in kept} == kept
    assert after[ALICE.memory("topics/other.md")] == other
    assert after[ALICE.memory("preferences/pets.md")] == pets
    assert world.find("green tea")[0].startswith("I like green tea.")


def test_messages_keep_their_places_and_refer_to_the_clean_output() -> None:
    world = unredacted()
    leak(world, TOKEN)
    before = [(m["seq"], m["id"], m["tokens"]) for m in messages(world)]
    (name,) = world.stored("/tool-results/")
    redacting(world)
    begin(world)
    finish(world)
    assert [(m["seq"], m["id"], m["tokens"]) for m in messages(world)] == before
    (message,) = [m for m in messages(world) if m["id"] == "t1"]
    part = message["parts"][1]
    header, _, content = world.body(name).decode().partition("\n")
    stored = json.loads(header)
    assert part["ref"] == {"id": stored["id"], "total_chars": len(content), "sha256": stored["sha256"]}
    assert content.startswith("it is [redacted:github_token], I think\n")
    assert part["tool_output"] == content.partition("\n")[0] or content.startswith(part["tool_output"])
    assert message["flags"] == ["secret:github_token"]
    head = world.head("s")
    assert head.tail_bytes == sum(map(len, head.tail))


def messages(world: World) -> list[dict[str, Any]]:
    head = world.head("s")
    services = world.services()
    lines = [
        line
        for number, a, b in services.log.archives(head)
        for line in services.log.archived(ref(head), number, a, b) or ()
    ]
    return [read_line(line) for line in (*lines, *services.log.live(head, head.live_from, head.last_seq))]


def test_blame_says_what_was_redacted_and_still_verifies_the_rest() -> None:
    world = unredacted()
    leak(world, TOKEN)
    redacting(world)
    begin(world)
    finish(world)
    said = {
        line.text: (line.source.quote, line.quote.status)
        for path in ("preferences/keys.md", "preferences/pets.md")
        for line in read_blame(world.services(), ALICE, path, after=0, limit=10).lines
        if line.source and line.quote
    }
    assert said["it is [redacted:github_token], I think"] == (NO_QUOTE, "redacted")
    assert said["Rex is a dog"][1] == "verified"


def test_a_scrub_of_one_session_leaves_the_others() -> None:
    world = unredacted()
    world.remember("a", f"tea: {TOKEN.text}")
    world.append("b", PASSWORD.text, ids="b")
    redacting(world)
    identity = begin(world, session_id="a")
    finish(world)
    assert places(world, TOKEN) == []
    assert places(world, PASSWORD) == [ALICE.head("b")]
    assert shown(world, identity)["session_id"] == "a"


@pytest.mark.parametrize("kind", FAULTS)
def test_a_worker_that_dies_anywhere_counts_the_same_and_leaves_nothing(kind: str) -> None:
    expected: Any = None
    for at in range(0, 2_000, 5):
        world = unredacted()
        world.create("s", metadata={"note": TOKEN.text})
        world.remember("s", f"tea: {TOKEN.text}", "pets: Rex is a dog")
        world.append("s", TOKEN.text, ids="n")
        redacting(world)
        identity = begin(world)
        FAULTS[kind](world, at)
        with going_on():
            world.settle(200)
        fired = world.calls.trip is None
        world.mend()
        finish(world)
        found = shown(world, identity)
        expected = expected or found["findings"]
        assert places(world, TOKEN) == [], f"call {at}"
        assert found["findings"] == expected, f"call {at}"
        assert world.find("dog") == ["Rex is a dog"], f"call {at}"
        if not fired:
            assert at > 40
            return
    raise AssertionError("a scrub of so many calls")


RACES: dict[str, Callable[[World], object]] = {
    "append": lambda world: world.append("s", "late: I row on Sundays", ids="late"),
    "commit": lambda world: world.commit("s"),
    "extract": lambda world: world.extract_next(),
    "merge": lambda world: world.merge_next(),
    "edit": lambda world: memory.write(world.services(), ALICE, "topics/n.md", "# N\n\nNew.\n", anything),
}


@pytest.mark.parametrize("name", RACES)
def test_what_is_under_way_is_neither_lost_nor_doubled(name: str) -> None:
    """A scrub goes over everything at each call of somebody else's work."""
    for at in range(60):
        world = unredacted()
        world.remember("s", f"tea: {TOKEN.text}")
        world.append("s", f"pets: Rex is a dog. {TOKEN.text}", "sport: I ski", ids="n")
        redacting(world)
        if name in ("extract", "merge"):
            world.commit("s")
        if name == "merge":
            world.extract_next()
        world.next(at, lambda world=world: (begin(world), erase(world)))  # type: ignore[misc]
        with going_on():
            RACES[name](world)
        fired = world.calls.trip is None
        if not fired:
            begin(world)
        finish(world)
        texts = [text for _, text in world.log("s")]
        assert [seq for seq, _ in world.log("s")] == list(range(1, len(texts) + 1)), f"call {at}"
        assert texts[1:3] == ["pets: Rex is a dog. it is [redacted:github_token], I think", "sport: I ski"], (
            f"call {at}"
        )
        assert texts.count("late: I row on Sundays") == (name == "append"), f"call {at}"
        if name in ("commit", "extract", "merge"):
            assert world.find("ski") == ["I ski"], f"call {at}"
        assert places(world, TOKEN) == [], f"call {at}"
        if not fired:
            return
    raise AssertionError("so many calls")


def erase(world: World) -> None:
    while len(world.erase_queue):
        world.erase_next()


def test_a_warm_head_cannot_bring_a_secret_back() -> None:
    world = unredacted()
    warm = world.services()
    world.append("s", TOKEN.text, by=warm)
    redacting(world)
    begin(world)
    finish(world)
    warm.rules = world.rules
    world.append("s", "I row", by=warm, ids="n")
    assert [text for _, text in world.log("s")] == ["it is [redacted:github_token], I think", "I row"]
    assert places(world, TOKEN) == []


def test_the_layers_of_an_index_are_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    from strandline.domain import layers

    monkeypatch.setattr(layers, "HEAD_WEIGHT", 100)
    world = unredacted()
    for n in range(4):
        world.remember(f"s{n}", f"tea: {TOKEN.text}", f"pets: Rex is dog {n}")
    assert len(world.stored(".layers/")) > 2
    redacting(world)
    begin(world)
    finish(world)
    assert places(world, TOKEN) == []
    assert len(world.find("Rex")) == 4
