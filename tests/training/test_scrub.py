"""What credentials look like, and what only looks like them.  # B-E7"""

import pytest

from strandline_sdk.rollouts.scrub import Scrubber


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Authorization: Bearer abcdefgh12345678", "Authorization: <redacted>"),
        ("key sk-abcdefghijklmnop1234 is mine", "key <redacted> is mine"),
        ("http://ann:hunter22@host/path", "http://<redacted>@host/path"),
        ("X-API-Key: qwertzuiop", "<redacted>"),
        ("the hidden-value is here", "the <redacted> is here"),
        ("a token of 3 tokens, the secret garden", "a token of 3 tokens, the secret garden"),
        ("passwords are hard; api keys too", "passwords are hard; api keys too"),
    ],
)
def test_texts(said: str, shown: str) -> None:
    assert Scrubber(["hidden-value"]).text(said) == shown


def test_documents() -> None:
    document = {
        "api_key": "k",
        "policy_token": "t",
        "x-api-key": "x",
        "headers": [{"Authorization": "whatever"}],
        "usage": {"prompt_tokens": 12, "max_tokens": 3},
        "name": "hidden-value",
    }
    assert Scrubber(["hidden-value"]).document(document) == {
        "api_key": "<redacted>",
        "policy_token": "<redacted>",
        "x-api-key": "<redacted>",
        "headers": [{"Authorization": "<redacted>"}],
        "usage": {"prompt_tokens": 12, "max_tokens": 3},
        "name": "<redacted>",
    }
