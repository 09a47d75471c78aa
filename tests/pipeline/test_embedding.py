"""Vectors beside the index: found by meaning, derived, and never in the way."""

import json

import pytest

from strandline.pipeline import memory
from strandline.pipeline.services import Ports
from strandline.ports import Ambiguous
from strandline.storage.layout import User
from tests.fakes.embedder import WordEmbedder
from tests.pipeline.trips import Killed
from tests.pipeline.world import ALICE, BOB, World


class Embedding(World):
    """A world with an embedder."""

    def __init__(self) -> None:
        self.embedder = WordEmbedder()
        super().__init__()

    def ports(self) -> Ports:
        return Ports(**{**vars(super().ports()), "embedder": lambda: self.embedder})


@pytest.fixture
def world() -> Embedding:
    return Embedding()


def test_a_line_is_found_by_what_it_means(world: Embedding) -> None:
    world.remember("s", "tea: I like oolong", "sport: I own oars")
    assert world.find("brew")[0] == "I like oolong"
    assert world.find("boat")[0] == "I own oars"


def test_messages_are_found_by_what_they_mean(world: Embedding) -> None:
    world.remember("s", "tea: I like oolong", "sport: I own oars")
    assert world.find("brew", context_type="message")[0] == "tea: I like oolong"


def test_words_and_meaning_count_together(world: Embedding) -> None:
    world.remember("s", "tea: I like oolong", "tea: I like brew", "sport: I own oars")
    assert world.find("oolong")[:2] == ["I like oolong", "I like brew"]


def test_a_text_is_embedded_once(world: Embedding) -> None:
    world.remember("s", "tea: I like oolong")
    before = len(world.embedder.asked)
    world.remember("s", "sport: I own oars", ids="n")
    texts = [text for batch in world.embedder.asked[before:] for text in batch]
    assert sorted(texts) == ["I own oars", "user: sport: I own oars"]


def test_the_vector_of_a_deleted_line_goes_with_the_next_merge(world: Embedding) -> None:
    world.remember("s", "tea: I like oolong")
    memory.delete(world.services(), ALICE, "preferences/tea.md", memory.matching(None, absent=False))
    assert world.find("brew") == []
    world.remember("s", "sport: I own oars", ids="n")
    assert json.loads(world.body(ALICE.vectors("memories")).split(b"\n")[0])["count"] == 1


def test_an_embedder_that_does_not_answer_stops_no_merge(world: Embedding) -> None:
    for nth in (1, 2):
        world.embedder.faults.before("embed", Ambiguous("down"), nth=nth)
    world.remember("s", "tea: I like oolong")
    assert world.head("s").completed == 1
    assert world.find("oolong") == ["I like oolong"]
    assert world.find("brew") == []

    world.remember("s", "sport: I own oars", ids="n")
    assert world.find("brew")[0] == "I like oolong"


def test_a_query_that_cannot_be_embedded_is_searched_by_its_words(world: Embedding) -> None:
    world.remember("s", "tea: I like oolong", "sport: I own oars")
    world.embedder.faults.before("query", Ambiguous("down"))
    assert world.find("oolong") == ["I like oolong"]


def test_another_model_begins_anew(world: Embedding) -> None:
    world.remember("s", "tea: I like oolong")
    world.embedder = WordEmbedder("words/2")
    assert world.find("brew") == []
    world.remember("s", "sport: I own oars", ids="n")
    assert world.find("brew")[0] == "I like oolong"


def test_nobody_finds_by_anothers_vectors(world: Embedding) -> None:
    world.remember("s", "tea: I like oolong")
    world.remember("s", "sport: I own oars", owner=BOB)
    assert world.find("brew", owner=BOB) != ["I like oolong"]
    assert all("oolong" not in text for text in world.find("brew", owner=BOB))


def test_without_an_embedder_there_are_no_vectors() -> None:
    world = World()
    world.remember("s", "tea: I like oolong")
    assert world.stored(".vectors.") == []


def waiting_for_the_merge() -> Embedding:
    world = Embedding()
    world.append("s", "tea: I like oolong")
    world.commit("s")
    world.extract_next()
    return world


def calls_of_a_merge() -> int:
    world = waiting_for_the_merge()
    before = len(world.calls.names)
    world.merge_next()
    return len(world.calls.names) - before


@pytest.mark.parametrize("at", range(calls_of_a_merge()))
@pytest.mark.parametrize("before", [True, False])
def test_a_merge_that_dies_is_finished_with_its_vectors(at: int, before: bool) -> None:  # B-B17
    world = waiting_for_the_merge()
    world.kill(at, before=before)
    with pytest.raises(Killed):
        world.merge_next()
    world.mend()

    world.heal()

    assert world.head("s").completed == 1
    assert world.find("brew") == ["I like oolong"]


def test_many_users_in_one_batch_share_the_time_for_vectors(world: Embedding) -> None:
    """An embedder that takes 20 seconds an answer: the batch waits for two, not for two a user."""
    for owner in (ALICE, BOB, User("acme", "carol")):
        world.append("s", "tea: I like oolong", owner=owner)
        world.commit("s", owner)
    while len(world.extract_queue):
        world.extract_next()
    for nth in range(1, 7):
        world.embedder.faults.before("embed", lambda: world.clock.advance(20), nth=nth)

    world.settle()

    assert len(world.embedder.asked) == 2
    assert [world.head("s", owner).completed for owner in (ALICE, BOB)] == [1, 1]
