"""Builds regular expressions out of lists of words, so that the lists can be read."""

import re


def any_of(listed: str) -> str:
    """A group that matches any of the words of a list, the longest first.

    Words are set apart by white space; `_` is a space inside one, `'` either apostrophe.
    """
    listed_words = sorted(dict.fromkeys(listed.split()), key=lambda w: (-len(w), w))
    return "(?:" + "|".join(_literal(w) for w in listed_words) + ")"


def _literal(word: str) -> str:
    return re.escape(word.replace("_", " ")).replace("\\ ", " ").replace("'", "['’]")


def words_of(listed: str) -> str:
    """`any_of`, as whole words."""
    return rf"\b{any_of(listed)}\b"


def compiled(*alternatives: str) -> re.Pattern[str]:
    """One pattern out of several, without regard to case."""
    return re.compile("|".join(alternatives), re.IGNORECASE)
