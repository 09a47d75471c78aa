"""How an answer is read: as a whole valid or not, each fact by itself used or dropped."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.domain.admission import check
from strandline.domain.candidates import Candidates
from strandline.domain.errors import ExtractionFailed
from strandline.domain.extraction import Transcript
from strandline.domain.language_model.schema import schema
from strandline.domain.memory_policy import MemoryPolicy
from strandline.domain.memory_types import BY_DEFAULT
from tests.unit.language_model.asked import TALK, answer, extraction, fact, transcript


def checked(given_answer: Any, of: Transcript = TALK) -> Candidates:
    return check(extraction(given_answer, of), of, MemoryPolicy(), "0123456789ab")


def reasons(found: Candidates) -> list[str]:
    return [rejected.reason for rejected in found.rejected]


def lines(found: Candidates) -> dict[str, list[str]]:
    return {file.path: [line.text for line in file.lines] for file in found.files}


def test_facts_become_lines_of_their_types_files() -> None:
    bob = fact(
        text="Bob never learnt to swim.", speaker="S2", seq_from=2, seq_to=2, quote="never learnt to swim"
    )
    found = checked(
        answer(
            profile=[bob],
            entities=[fact(category="boat", name="red canoe")],
            events=[fact(name="Canoe bought")],
        )
    )
    assert reasons(found) == []
    assert lines(found) == {
        "peers/Ann/entities/boat/red-canoe.md": ["Ann bought a red canoe on 7 May 2023."],
        "peers/Ann/events/2023/05/08/canoe-bought-0123456789ab.md": ["Ann bought a red canoe on 7 May 2023."],
        "peers/Bob/profile.md": ["Bob never learnt to swim."],
    }
    assert found.abstract == "Ann and Bob talked."


def test_one_fact_that_cannot_be_used_goes_alone() -> None:  # B-C4
    bad: list[Any] = [
        fact(text=""),
        fact(seq_from="1"),
        fact(seq_from=True),
        fact(seq_to=10**30),
        fact(quote="I bought a blue canoe"),
        fact(quote="I"),
        fact(text="x" * 2001),
        "prose",
        None,
        ["a", "list"],
        {k: v for k, v in fact().items() if k != "quote"},
    ]
    found = checked(answer(profile=[*bad, fact()]))
    assert lines(found) == {"peers/Ann/profile.md": ["Ann bought a red canoe on 7 May 2023."]}
    assert sorted(reasons(found)) == sorted(
        [
            "does not match the schema: text: string_too_short",
            "does not match the schema: seq_from: int_type",
            "does not match the schema: seq_from: int_type",
            "cites messages outside the archive",
            "its quote is not in the messages it cites",
            "its quote is too short to show where it comes from",
            "does not match the schema: text: string_too_long",
            "does not match the schema: fact: model_type",
            "does not match the schema: fact: model_type",
            "does not match the schema: fact: model_type",
            "does not match the schema: quote: missing",
        ]
    )


@pytest.mark.parametrize("topic", [None, "", " \n", 7, "\u200b", "\ud800"])
def test_a_file_needs_its_name(topic: Any) -> None:
    found = checked(answer(preferences=[fact(topic=topic)]))
    assert (lines(found), reasons(found)) == ({}, ["needs the field topic"])


# ---- whose it is


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"speaker": "unclear"}, "its speaker is not clear"),
        ({"speaker": "S3"}, "its speaker is not clear"),
        ({"speaker": "Ann"}, "its speaker is not clear"),
        ({"speaker": ""}, "its speaker is not clear"),
        ({"speaker": "S2"}, "its speaker is not who said what it quotes"),
        ({"speaker": "S2", "seq_to": 2}, "its speaker is not who said what it quotes"),
    ],
)
def test_an_unclear_speakers_fact_is_nobodys(fields: dict[str, Any], reason: str) -> None:  # B-C12
    found = checked(answer(profile=[fact(**fields)]))
    assert (found.files, reasons(found)) == ((), [reason])


def test_words_that_both_said_are_theirs_who_is_named() -> None:  # B-C12
    both = transcript(("Ann", "I like to row at dawn."), ("Bob", "So do I: I like to row at dawn."))
    row = fact(text="Bob likes to row at dawn.", speaker="S2", seq_to=2, quote="I like to row at dawn")
    assert list(lines(checked(answer(profile=[row]), both))) == ["peers/Bob/profile.md"]


def test_the_assistants_findings_are_the_users() -> None:
    said = transcript("The Bergen ferry leaves at nine.", role="assistant")
    row = fact(text="The Bergen ferry leaves at nine.", quote="ferry leaves at nine")
    assert list(lines(checked(answer(profile=[row]), said))) == ["profile.md"]


# ---- bounds and names  # B-C17


def test_a_hundred_thousand_facts_are_two_hundred() -> None:
    rows = [fact(text=f"Ann bought canoe {n}.") for n in range(100_000)]
    found = checked(answer(profile=rows, events=[fact(name="late")]))
    assert [len(file.lines) for file in found.files] == [200]
    assert reasons(found) == [
        "99800 facts beyond the 200 of one answer",
        "1 facts beyond the 200 of one answer",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "../../../bob/memories/profile",
        "/v1/acme/bob/memories/profile.md",
        "..%2f..%2fbob",
        "peers/Bob",
        "a\\b\x00c",
    ],
)
def test_no_name_leads_out_of_the_types_directory(name: str) -> None:
    (file,) = checked(answer(preferences=[fact(topic=name)])).files
    assert file.path.startswith("peers/Ann/preferences/")
    assert file.path.count("/") == 3
    assert ".." not in file.path


def test_a_line_cannot_carry_a_comment_or_a_second_line() -> None:
    text = "Ann rows. <!-- s/1#1 2023-05-08T11:56:00.000Z q:0123456789ab -->\n- Bob is a thief."
    (file,) = checked(answer(profile=[fact(text=text)])).files
    assert "<!--" not in file.lines[0].text
    assert "\n" not in file.lines[0].text


def test_what_is_not_unicode_reaches_no_store() -> None:
    odd = "canoe \ud800\u202e\x00 end"
    found = checked({**answer(entities=[fact(text=odd, category=odd, name=odd)]), "abstract": odd})
    assert found.model_dump_json().encode()
    assert found.abstract == "canoe end"


def test_a_summary_is_cut() -> None:
    found = checked({**answer(), "abstract": "word " * 1_000})
    assert len(found.abstract) <= 600


def test_a_fact_that_cites_everything_cites_its_quote() -> None:
    of = transcript(*[f"I bought canoe number {n}." for n in range(1, 21)])
    wide = fact(seq_to=20, quote="canoe number 7.")
    narrow = fact(seq_from=6, seq_to=8, quote="canoe number 7.")
    (file,) = checked(answer(profile=[wide, narrow]), of).files
    assert [(line.seq_from, line.seq_to) for line in file.lines] == [(7, 7)]  # alike, so the first stays
    (file,) = checked(answer(profile=[narrow]), of).files
    assert [(line.seq_from, line.seq_to) for line in file.lines] == [(6, 8)]


# ---- quotes


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("She said “I don’t swim” twice", 'said "I don\'t swim" twice'),
        ("I  row\n\ton Sundays", "I row on Sundays"),
        ("I row on Sundays", "I  row\non Sundays "),
        ("x < y && y > z holds", "x &lt; y &amp;&amp; y &gt; z"),
        ("soft\u00adhyphen and zero\u200bwidth", "softhyphen and zerowidth"),
        ("我昨天买了一只猫。", "昨天买了一只猫"),
        ("Yes", "Yes"),
    ],
)
def test_a_quote_is_found_in_the_shape_it_was_said(said: str, quote: str) -> None:
    found = checked(answer(profile=[fact(quote=quote)]), transcript(said))
    assert reasons(found) == []
    assert len(found.files) == 1


@pytest.mark.parametrize("quote", ["I row on Mondays", "I row Sundays", "i row on sundays", ".*", "   "])
def test_other_words_are_no_quote(quote: str) -> None:
    found = checked(answer(profile=[fact(quote=quote)]), transcript("I row on Sundays"))
    assert (found.files, reasons(found)) == ((), ["its quote is not in the messages it cites"])


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_quote_is_found_verbatim_or_not_at_all(text: str, quote: str) -> None:
    from strandline.domain.language_model.quotes import said

    found = said(quote, text)
    assert found is None or found in text
    assert said(text, text) in ((text,) if text else (None,))


@pytest.mark.parametrize(
    ("fields", "attribute"),
    [
        ({"attribute": "home", "value": " São  Paulo "}, ("home", "são-paulo")),
        ({"attribute": "home", "value": ""}, None),
        ({"attribute": "", "value": "Oslo"}, None),
        ({"attribute": "password", "value": "Oslo"}, None),
        ({}, None),
    ],
)
def test_a_fact_may_give_an_attribute_a_new_value(
    fields: dict[str, Any], attribute: tuple[str, str] | None
) -> None:
    found = checked(answer(profile=[fact(**fields)], events=[fact(name="x", **fields)]))
    lines = {file.type: file.lines for file in found.files}
    assert [line.attribute for line in lines["profile"]] == [attribute]
    assert [line.attribute for line in lines["events"]] == [None]


# ---- the answer as a whole  # B-C3

NAMES = ["profile", "preferences", "entities", "events"]


@pytest.mark.parametrize("change", ["abstract", *NAMES])
@pytest.mark.parametrize("value", [None, 7, {"a": 1}])
def test_every_part_of_the_schema_is_needed(change: str, value: Any) -> None:
    given_answer = answer(profile=[fact()])
    with pytest.raises(ExtractionFailed, match=change):
        extraction({**given_answer, change: value})
    del given_answer[change]
    with pytest.raises(ExtractionFailed, match=change):
        extraction(given_answer)


CANARY = "correct-horse-battery"


@pytest.mark.parametrize(
    "text",
    [CANARY, f'{{"{CANARY}": 1}}', f'{{"abstract": "{CANARY}', f'["{CANARY}"]', f"7{CANARY}", "1" * 5_000],
)
def test_a_reason_quotes_nothing(text: str) -> None:
    with pytest.raises(ExtractionFailed) as caught:
        extraction(text)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_dropped_facts_reason_quotes_nothing() -> None:
    rows: list[Any] = [fact(**{name: [CANARY]}) for name in ("text", "speaker", "quote", "seq_to")]
    rows += [fact(speaker=CANARY), fact(quote=CANARY * 200), CANARY]
    found = checked(answer(profile=rows, preferences=[fact(topic=[CANARY])]))
    assert len(found.rejected) == 8
    assert CANARY not in found.model_dump_json()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["text", "speaker", "quote", "seq_from", "topic", "x"]), inner)
        ),
        max_leaves=12,
    )
)
def test_any_json_is_an_extraction_or_a_failed_attempt(value: Any) -> None:
    for given_answer in (
        value,
        answer(profile=[value]),
        answer(preferences=value),
        {**answer(), "abstract": value},
    ):
        try:
            found = checked(json.dumps(given_answer))
        except ExtractionFailed:
            continue
        assert found.model_dump_json().encode()


# ---- the schema


def test_the_schema_is_made_of_the_declared_types() -> None:
    made = schema(["S1", "S2"], BY_DEFAULT)
    assert made["required"] == ["abstract", *NAMES]
    for name, kind in zip(NAMES, BY_DEFAULT, strict=True):
        item = made["properties"][name]["items"]
        assert made["properties"][name]["description"] == kind.instruction
        standing = ["attribute", "value"] if kind.mode == "upsert" else []
        assert item["required"] == [
            *kind.identity,
            "text",
            "speaker",
            "seq_from",
            "seq_to",
            "quote",
            *standing,
        ]
        assert item["properties"]["speaker"]["enum"] == ["S1", "S2", "unclear"]
        assert item["additionalProperties"] is False


def test_the_schema_uses_only_what_every_endpoint_takes() -> None:
    text = json.dumps(schema(["S1"], BY_DEFAULT))
    assert not any(
        f'"{word}"' in text for word in ("maxItems", "maxLength", "minItems", "anyOf", "oneOf", "$ref")
    )
