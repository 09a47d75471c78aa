"""Memory types that a user declares: by route or by hand, checked, versioned, and what an archive is extracted with."""

import json
from typing import Any

import pytest

from strandline.domain.errors import ExtractionFailed
from strandline.domain.extraction import Extraction, Transcript
from strandline.domain.memory_types import REGISTRY
from strandline.domain.rules import extract
from strandline.storage.layout import User
from tests.handlers.service import Client, Service

CANARY = "AKIA" + "ABCDEFGHIJKLMNOP"
YAML = """\
mode: upsert
fields:
- name: content
- name: mood
  merge: replace
file: recipes.md
title: Recipes
template: |-
  Mood: {mood}

  {content}
instruction: Dishes that somebody cooks, and how.
index: cooking {title}
keywords: [cook, bake]
"""
ALICE = User("acme", "alice")


def put(client: Client, content: str = YAML, name: str = "recipes", **fields: Any) -> Any:
    return client.put(f"/memory-types/{name}", {"content": content, **fields})


def by_hand(service: Service, name: str, text: str, form: str = "yaml") -> None:
    service.world.objects.put(ALICE.memory_type(name, form), text.encode())


def test_the_services_own_types(alice: Client) -> None:
    rows = alice.get("/memory-types").result
    assert [(row["name"], row["origin"], row["valid"]) for row in rows] == [
        (name, "service", True)
        for name in (
            *("profile", "preferences", "entities", "events", "topics", "tools", "skills"),
            *("cases", "trajectories", "experiences"),
        )
    ]
    assert alice.get("/memory-types/tools").result["declaration"]["enabled"] is False


def test_declared_listed_and_read(alice: Client, bob: Client) -> None:
    declared = put(alice).result
    assert declared["declaration"]["keywords"] == ["cook", "bake"]
    assert len(declared["version"]) == 12
    assert alice.get("/memory-types/recipes").result == {k: declared[k] for k in declared if k != "dry_run"}
    assert alice.get("/memory-types").result[-1]["name"] == "recipes"
    assert bob.get("/memory-types/recipes").refusal == (404, "NOT_FOUND")  # B-A14


def test_the_version_follows_from_what_is_declared(alice: Client) -> None:
    first = put(alice).result["version"]
    assert put(alice, f"# the same\n{YAML}").result["version"] == first
    assert put(alice, YAML.replace("and how", "and why")).result["version"] != first


def test_the_same_in_three_forms(alice: Client) -> None:
    parsed = put(alice, dry_run=True).result["declaration"]
    front, instruction = (
        YAML.replace("instruction: Dishes that somebody cooks, and how.\n", ""),
        "Dishes that",
    )
    markdown = f"---\n{front}---\n{instruction} somebody cooks, and how.\n"
    as_json = json.dumps({name: value for name, value in parsed.items() if name not in ("name", "extracted")})
    for form, content in (("md", markdown), ("json", as_json)):
        assert put(alice, content, form=form, dry_run=True).result["declaration"] == parsed
    assert len(alice.get("/memory-types").result) == len(REGISTRY)  # nothing was stored


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("{", "content"),
        ("- a list", "content"),
        ("a: &a [*a]", "content"),
        ("x" * 20_000, "content"),
        (YAML.replace("recipes.md", "../profile.md"), "file"),
        (YAML.replace("Mood: {mood}", "{nothing}"), "template"),
        (YAML.replace("mode: upsert", "mode: sometimes"), "mode"),
        (YAML.replace("mode: upsert\n", ""), "mode"),
        (f"{YAML}colour: red\n", "colour"),
        (f"{YAML}name: other\n", "name"),
        (f"{YAML}extracted: false\n", "extracted"),
    ],
)
def test_what_is_no_declaration(alice: Client, content: str, field: str) -> None:
    answer = put(alice, content)
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    problems = answer.error["details"]["validation_errors"]
    assert field in [problem["field"] for problem in problems]
    assert all(problem["message"] for problem in problems)
    assert alice.get("/memory-types/recipes").status == 404


@pytest.mark.parametrize("name", ["profile", "cases", "peers", "Recipes", "a.b", "x" * 50])
def test_names_that_cannot_be_had(alice: Client, name: str) -> None:
    assert put(alice, YAML.replace("recipes.md", f"{name}.md"), name=name).refusal == (
        400,
        "INVALID_ARGUMENT",
    )


def test_another_form_of_what_is_there_is_refused(alice: Client) -> None:
    put(alice)
    content = json.dumps({"mode": "upsert"})
    assert put(alice, content, form="json").status == 400
    whole = alice.get("/memory-types/recipes").result["declaration"]
    whole.pop("extracted")
    assert put(alice, json.dumps(whole), form="json").refusal == (409, "CONFLICT")


def test_no_secret_is_stored(service: Service, alice: Client) -> None:  # B-C16
    shown = put(alice, YAML.replace("and how.", f"and how, not {CANARY}")).result
    assert CANARY not in json.dumps(shown)
    assert CANARY.encode() not in service.world.body(ALICE.memory_type("recipes", "yaml"))


def test_what_was_put_by_hand_and_is_not_valid_says_why(service: Service, alice: Client) -> None:
    by_hand(service, "recipes", YAML.replace("mode: upsert", "mode: never"))
    by_hand(service, "profile", YAML)
    row, profile = (r for r in alice.get("/memory-types").result if r["origin"] == "user" and not r["valid"])
    if row["name"] == "profile":
        row, profile = profile, row
    assert (row["declaration"], row["problems"][0]["field"]) == (None, "mode")
    assert profile["problems"] == [{"field": "name", "message": "'profile' is a name of the service's own"}]
    assert alice.get("/memory-types/profile").result["origin"] == "service"


def test_what_people_say_with_a_keyword_goes_there(service: Service, alice: Client) -> None:
    put(alice)
    alice.remember(
        "s", "I cook pasta with sage and butter on most evenings.", "I live in Bergen by the harbour."
    )
    shown = alice.memory("recipes.md").result
    assert "The user cooks pasta with sage and butter on most evenings." in shown["content"]
    assert shown["type"] == "recipes"
    assert alice.find("cooking")[0]["uri"].endswith("/memories/recipes.md")  # by its index text
    assert "recipes" not in alice.memory("profile.md").result["content"]


def test_a_session_that_names_its_types(service: Service, alice: Client, bob: Client) -> None:
    put(alice)
    policy = {"memory_types": ["profile", "recipes"]}
    assert bob.create("s", memory_policy=policy).refusal == (400, "INVALID_ARGUMENT")
    alice.create("s", memory_policy=policy)
    alice.remember(
        "s", "I cook pasta with sage and butter on most evenings.", "I went hiking near Voss in May."
    )
    assert {row["type"] for row in alice.get("/memories").result} == {"recipes"}


class Late:
    """The rules, behind a model that is down at first. Remembers which types it was asked for."""

    def __init__(self) -> None:
        self.down = True
        self.asked: list[list[str]] = []

    def extract(self, transcript: Transcript) -> Extraction:
        self.asked.append([kind.instruction for kind in transcript.types if kind.name == "recipes"])
        if self.down:
            raise ExtractionFailed("down", final=True)
        return extract(transcript)


def candidates_of(service: Service, session: str) -> Any:
    (key,) = [k for k in service.world.stored(f"/sessions/{session}/") if k.endswith("candidates.json")]
    return json.loads(service.world.body(key))


def test_a_retry_extracts_with_what_the_first_attempt_found(service: Service, alice: Client) -> None:
    late = Late()
    service.world.model = late
    service.cold()
    first = put(alice).result["version"]
    alice.append("s", "I cook pasta with sage and butter on most evenings.")
    task = alice.commit("s").result["task_id"]
    service.pump()
    put(alice, YAML.replace("and how", "and why").replace("[cook, bake]", "[weld]"))

    late.down = False
    alice.post(f"/tasks/{task}/retry")
    service.pump()

    assert late.asked == [["Dishes that somebody cooks, and how."]] * 2
    assert candidates_of(service, "s")["types"] == {"recipes": first}
    assert "pasta" in alice.memory("recipes.md").result["content"]


def test_a_declaration_that_is_not_valid_stops_nothing_and_is_told(
    service: Service, alice: Client
) -> None:  # B-C4
    by_hand(service, "recipes", "mode: never")
    alice.remember("s", "I live in Bergen by the harbour.")
    assert "Bergen" in alice.memory("profile.md").result["content"]
    (refused,) = candidates_of(service, "s")["rejected"]
    assert refused["memory_type"] == "recipes"
    assert refused["reason"].startswith("its declaration is not valid: mode: ")


def test_twenty_types_and_no_more(service: Service, alice: Client) -> None:
    for n in range(20):
        by_hand(service, f"t{n:02d}", YAML.replace("recipes.md", f"t{n:02d}.md"))
    assert put(alice).refusal == (409, "CONFLICT")
    assert put(alice, YAML.replace("recipes.md", "t07.md"), name="t07").status == 200
    by_hand(service, "zz", YAML.replace("recipes.md", "zz.md"))
    assert len(alice.get("/memory-types").result) == len(REGISTRY) + 20


def test_a_type_is_deleted_and_its_memories_stay(service: Service, alice: Client, bob: Client) -> None:
    declared = put(alice).result
    alice.remember("a", "I cook pasta every Friday.")
    before = alice.memory("recipes.md").result
    assert bob.delete("/memory-types/recipes").refusal == (404, "NOT_FOUND")  # B-A14

    gone = alice.delete("/memory-types/recipes").result
    assert gone == {name: value for name, value in declared.items() if name != "dry_run"}
    assert len(alice.get("/memory-types").result) == len(REGISTRY)
    assert alice.get("/memory-types/recipes").refusal == (404, "NOT_FOUND")
    assert alice.delete("/memory-types/recipes").refusal == (404, "NOT_FOUND")
    alice.remember("b", "I bake bread on Sundays.")
    assert alice.memory("recipes.md").result == before

    assert put(alice).result["version"] == declared["version"]
    alice.remember("c", "I bake cakes on Mondays.")
    assert "bakes cakes" in alice.memory("recipes.md").result["content"]


def test_a_type_that_was_put_there_in_two_forms_is_gone_whole(service: Service, alice: Client) -> None:
    by_hand(service, "recipes", YAML)
    by_hand(service, "recipes", "no json", form="json")
    alice.delete("/memory-types/recipes")
    assert len(alice.get("/memory-types").result) == len(REGISTRY)


def test_the_services_own_types_cannot_be_deleted(alice: Client) -> None:
    answer = alice.delete("/memory-types/profile")
    assert answer.refusal == (400, "INVALID_ARGUMENT")
    assert "memory_policy" in answer.error["message"]
