"""What may be said of an error in a log: its kind and where it happened, never its text, which may quote content."""

import re
import traceback

FRAMES = 3
_WORD = re.compile(r"[\w.:-]{1,64}", re.ASCII)


def kind_of(error: BaseException) -> str:
    """`ClientError AccessDenied at s3.py:73 _read < document.py:118 read`: type, code if any, innermost places."""
    code = getattr(error, "code", None) or _service_code(error)
    code = str(code) if isinstance(code, int | str) and _WORD.fullmatch(str(code)) else ""
    passed = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in passed if "/strandline/" in frame.filename] or passed
    innermost = reversed(ours[-FRAMES:])
    places = " < ".join(f"{f.filename.rpartition('/')[2]}:{f.lineno} {f.name}" for f in innermost)
    cause = f" from {kind_of(error.__cause__)}" if error.__cause__ else ""
    return " ".join(filter(None, (type(error).__name__, code, places and f"at {places}"))) + cause


def _service_code(error: BaseException) -> str:
    """The code of a cloud service's refusal, which is a word of the service's own."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""
