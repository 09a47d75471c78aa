"""Makes any text safe to stand on one line of a memory file, and tells scripts apart."""

import re

from strandline.domain.one_line import MAX_LINE as MAX_LINE
from strandline.domain.one_line import cut as cut
from strandline.domain.one_line import one_line as one_line

_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]"
)
_LETTER = re.compile(r"[^\W\d_]")


def is_unspaced(text: str) -> bool:
    """Whether much of the text is in a script whose words are not taken apart here: Chinese, Japanese, Korean, …"""
    found = len(_UNSPACED.findall(text))
    return found > 0 and found * 3 >= len(_LETTER.findall(text))
