"""Secrets in text: found, and taken out, before anything is stored. Pure; linear in the length of the text.

In place of a secret stands `[redacted:<kind>]`, the same for every secret of a kind. Taking out twice changes nothing.
"""

from strandline.domain.redaction.text import MARKER, Allowed, Redacted, is_allowed, kinds_in, redact, scrub
from strandline.domain.redaction.values import redact_value

__all__ = ["MARKER", "Allowed", "Redacted", "is_allowed", "kinds_in", "redact", "redact_value", "scrub"]
