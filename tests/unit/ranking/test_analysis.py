import time

import pytest

from strandline.domain.ranking import analyze
from strandline.domain.ranking.analysis import terms_of
from strandline.domain.ranking.stop_words import STOP_WORDS


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Hello, World", ["hello", "world"]),
        ("RUNNING Runs ran", ["run", "run", "ran"]),
        ("ＦＵＬＬ ﬁnd ①", ["full", "find", "1"]),  # NFKC: full width, ligature, circled digit
        ("STRASSE straße", ["strass", "strass"]),
        ("café CAFÉ cafe cafe\u0301", ["cafe"] * 4),
        ("Łódź smørrebrød İstanbul", ["lodz", "smorrebrod", "istanbul"]),
        ("room 101, 7:30 v2", ["room", "101", "7", "30", "v2"]),
        ("нового елка ёлка", ["нового", "елка", "елка"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),  # vowel signs are marks and belong to the word
        ("co\u00adop\u200b", ["coop"]),  # soft hyphen, zero-width space: invisible
    ],
)
def test_words_are_normalised_stemmed_and_bare_of_accents(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("self-care", ["self", "care", "selfcar"]),
        ("self\u2011care", ["self", "care", "selfcar"]),  # non-breaking hyphen
        ("snake_case", ["snake", "case", "snakecas"]),
        ("2023-05-08", ["2023", "05", "08", "20230508"]),
        ("-dash- --", ["dash"]),
        ("O'Brien", ["o", "brien", "obrien"]),
        ("l’école", ["l", "ecol", "lecol"]),
        ("Caroline's Caroline’s dogs'", ["carolin", "carolin", "dog"]),
        ("“quoted” 'single' ‘curly’ «angled» 「角」", ["quot", "singl", "cur", "angl", "角"]),
        ("`code`", ["code"]),
    ],
)
def test_hyphens_join_and_quotes_fall_off(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("猫", ["猫"]),
        ("東京都", ["東", "京", "都", "東京", "京都"]),
        ("私はJavaが好き", ["私", "は", "私は", "java", "が", "好", "き", "が好", "好き"]),
        ("カタカナ", ["カ", "タ", "カ", "ナ", "カタ", "タカ", "カナ"]),
        ("ｶﾀｶﾅ", ["カ", "タ", "カ", "ナ", "カタ", "タカ", "カナ"]),  # half width
        ("한국어", ["한", "국", "어", "한국", "국어"]),
        ("ไทย", ["ไ", "ท", "ย", "ไท", "ทย"]),
        ("20冊の本。", ["20", "冊", "の", "本", "冊の", "の本"]),
        ("𠮷野", ["𠮷", "野", "𠮷野"]),  # outside the basic plane
    ],
)
def test_unspaced_scripts_become_characters_and_bigrams(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


def test_words_beside_emoji_survive_and_the_emoji_are_fallback_terms() -> None:
    terms = terms_of("great🎉party 👍🏽yes❤️")
    assert terms.content == ["great", "parti", "yes"]
    assert terms.fallback == ["🎉", "👍", "❤"]


def test_stop_words_and_contractions_do_not_count_as_content() -> None:
    terms = terms_of("I don't think you're the one who can't")
    assert terms.content == ["think", "one"]
    assert terms.fallback == ["i", "dont", "you", "the", "who", "cant"]


@pytest.mark.parametrize(
    ("text", "terms"), [("the who", ["the", "who"]), ("🎉", ["🎉"]), ("", []), ("?!…", [])]
)
def test_a_text_of_stop_words_or_symbols_falls_back_to_them(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


def test_a_word_that_is_a_stop_word_only_without_its_accent_stays_itself() -> None:
    assert analyze("thé") == ["thé"]


def test_stop_words_leave_out_words_with_another_meaning() -> None:
    assert not STOP_WORDS & {"us", "will", "may", "can", "march"}


@pytest.mark.parametrize(
    "unit", ["a", "a-", "'", "o'", "猫", "é", "e\u0301\u0316", "\u0301\u0316", "👍", "\ud800a", "the fox "]
)
def test_analysis_takes_linear_time(unit: str) -> None:
    """Four times the text may take some ten times as long on a busy machine, quadratic work sixteen times."""
    short = unit * (60_000 // len(unit))
    assert _seconds(short * 4) < 12 * max(_seconds(short), 0.005)


def _seconds(text: str) -> float:
    start = time.process_time()
    terms = analyze(text)
    assert all(0 < len(term) <= 64 for term in terms)
    return time.process_time() - start


def test_a_mebibyte_of_prose_and_of_combining_marks_is_analysed() -> None:
    assert len(analyze("quick brown fox " * 65_536)) == 3 * 65_536
    assert analyze("\u0301\u0316" * 524_288) == []
