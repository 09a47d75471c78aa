"""Extraction by rules, for when no model is configured: deterministic, and labelled as what it is.

Its lines are what people said, put into the third person where grammar allows, with relative dates resolved and
with provenance. It does not infer, merge or judge.
"""

from strandline.domain.rules.extract import extract

__all__ = ["extract"]
