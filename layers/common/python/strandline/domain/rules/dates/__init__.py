"""Resolves relative dates against the day they were said: `yesterday` said on 8 May 2023 is 7 May 2023."""

from strandline.domain.rules.dates.resolve import Dated, gloss, resolve

__all__ = ["Dated", "gloss", "resolve"]
