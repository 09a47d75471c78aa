"""A newer fact ends the older one, and nothing is lost: the file shows both, search what holds."""

from typing import Any

from tests.handlers.service import Client, Service

LISBON, OSLO = "The user lives in Lisbon.", "The user moved to Oslo."


def say(alice: Client, session: str, text: str, at: str) -> None:
    alice.append(session, text, created_at=at)
    alice.commit(session)


def moved(service: Service, alice: Client, *, newest_first: bool = False) -> str:
    said = [
        ("old", "I live in Lisbon.", "2023-01-05T10:00:00Z"),
        ("new", "I moved to Oslo.", "2024-03-06T10:00:00Z"),
    ]
    for session, text, at in reversed(said) if newest_first else said:
        say(alice, session, text, at)
        service.pump()
    content: str = alice.memory("profile.md").result["content"]
    return content


def texts(hits: list[Any]) -> list[str]:
    return [hit["abstract"].partition(" (")[0] for hit in hits]


def test_the_older_home_is_struck_through_and_says_what_ended_it(service: Service, alice: Client) -> None:
    old, new = [line for line in moved(service, alice).split("\n") if line.startswith("- ")]
    assert old.startswith("- ~~The user lives in Lisbon.")
    assert "~~ (until 6 March 2024) <!-- old/1#1 2023-01-05T10:00:00.000Z" in old
    assert old.endswith("=home:lisbon until:2024-03-06T10:00:00.000Z by:new/1#1 -->")
    assert new.startswith("- The user moved to Oslo.")
    assert new.endswith("=home:oslo -->")


def test_what_is_processed_first_makes_no_difference(
    service: Service, alice: Client, bob: Client
) -> None:  # B-C9
    assert moved(service, alice) == moved(service, bob, newest_first=True)


def test_search_finds_what_holds_unless_asked_otherwise(service: Service, alice: Client) -> None:
    moved(service, alice)
    assert texts(alice.find("Lisbon Oslo home")) == [OSLO]
    assert texts(alice.find("Lisbon")) == []
    (hit,) = alice.find("Lisbon", include_superseded=True)
    assert (hit["valid_until"], hit["superseded_by"]) == ("2024-03-06T10:00:00.000Z", "new/1#1")
    assert texts(alice.find("Lisbon", until="2023-06-01T00:00:00Z")) == [LISBON]
    assert texts(alice.find("Lisbon", until="2024-06-01T00:00:00Z")) == []


def test_favourites_of_a_kind(service: Service, alice: Client) -> None:
    say(alice, "a", "My favorite color is dark green.", "2023-01-05T10:00:00Z")
    say(alice, "b", "My favorite color is orange.", "2024-01-05T10:00:00Z")
    service.pump()
    (row,) = [row for row in alice.get("/memories").result if row["type"] == "preferences"]
    content = alice.memory(row["path"]).result["content"]
    assert "- ~~The user's favorite color is dark green." in content
    assert "- The user's favorite color is orange." in content


def test_two_homes_in_one_message_are_not_clear(service: Service, alice: Client) -> None:
    alice.remember("s", "I live in Lisbon. I moved to Oslo.")
    assert "=home" not in alice.memory("profile.md").result["content"]


def test_a_memory_shows_its_fields_and_links(service: Service, alice: Client) -> None:
    talk = [
        "My dog's name is Pipoca and we found her in the shelter.",
        "Yesterday I walked with Pipoca to the sea.",
    ]
    alice.remember("s", *talk)
    shown = alice.memory("entities/pets/pipoca.md").result
    (event,) = [row["path"] for row in alice.get("/memories").result if row["type"] == "events"]
    assert shown["fields"] == {}
    assert shown["links"] == [
        {"type": "mentions", "back": True, "path": event, "uri": f"viking://user/alice/memories/{event}"}
    ]


def test_blame_and_history_say_what_holds_no_more(service: Service, alice: Client) -> None:
    moved(service, alice)
    lines = [row for row in alice.get("/memories/profile.md/blame").result["lines"] if row["source"]]
    assert [(row["valid_until"], row["superseded_by"]) for row in lines] == [
        ("2024-03-06T10:00:00.000Z", "new/1#1"),
        (None, None),
    ]
    counts = [row["lines"] for row in alice.get("/memories/profile.md/history").result["versions"]]
    assert [(each["added"], each["ended"]) for each in counts] == [(1, 1), (1, 0)]


def test_what_holds_is_found_by_how_one_asks_after_it(service: Service, alice: Client) -> None:
    moved(service, alice)
    say(alice, "more", "I am vegetarian.", "2024-03-07T10:00:00Z")
    say(alice, "work", "I got a job at Siemens.", "2024-03-08T10:00:00Z")
    service.pump()
    assert texts(alice.find("Where do I live?"))[0] == OSLO
    assert texts(alice.find("What food do I eat?"))[0] == "The user is vegetarian."
    assert texts(alice.find("Which company do I work for?"))[0] == "The user got a job at Siemens."
