"""What is taken out of a text, what stays, and that it costs no more than the text is long."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strandline.domain.redaction import redact, redact_value
from tests.canaries import CANARIES

_WHOLE = [kind for kind in CANARIES if not kind.startswith("private_key/cut")]


@pytest.mark.parametrize("kind", CANARIES)
def test_a_secret_is_taken_out_and_named(kind: str) -> None:  # B-C16
    found = redact(CANARIES[kind].text)
    assert CANARIES[kind].secret not in found.text
    assert f"[redacted:{kind.partition('/')[0]}]" in found.text
    assert kind.partition("/")[0] in found.kinds


@pytest.mark.parametrize("kind", _WHOLE)
@pytest.mark.parametrize(
    "around",
    [
        "İstanbul'da {}",
        "line one\\nline two\\n{}\\nline four",
        "\x1b[32m{}\x1b[0m",
        "```\n{}\n```",
        "> {}\n> more",
        "😀{}😀",
        "x" * 5000 + "\n{}\n" + "y" * 5000,
    ],
)
def test_whatever_stands_around_it(kind: str, around: str) -> None:  # B-C16
    assert CANARIES[kind].secret not in redact(around.format(CANARIES[kind].text)).text


def test_everything_at_once() -> None:  # B-C16
    text = "\n".join(canary.text for canary in CANARIES.values())
    found = redact(text).text
    assert [kind for kind, canary in CANARIES.items() if canary.secret in found] == []


def test_the_rest_of_the_text_stays() -> None:
    token = CANARIES["github_token"].secret
    assert (
        redact(f"use {token}, not {token}!").text
        == "use [redacted:github_token], not [redacted:github_token]!"
    )
    assert redact('{"password": "hun ter2", "user": "ann"}').text == (
        '{"password": "[redacted:password]", "user": "ann"}'
    )
    assert redact("https://ann:p@ss@example.com/x?y=1").text == (
        "https://ann:[redacted:url_password]@example.com/x?y=1"
    )


def test_a_password_that_everybody_knows() -> None:  # B-C16
    assert redact("password: hunter2").text == "password: [redacted:password]"
    assert redact("password=hunter2").text == "password=[redacted:password]"
    assert redact("Passwort: Sommer2024!").text == "Passwort: [redacted:password]"


@pytest.mark.parametrize(
    "text",
    [
        "my password is complicated",
        "The password must be at least 8 characters long.",
        "password: must be strong",
        "I forgot my password yesterday, and the token too.",
        "Passwords are annoying; mine was changed on 2024-05-01.",
        "Password reset: https://example.com/reset?id=42",
        "Mein Passwort ist kompliziert. 我的密码很复杂。",
        "password is case-sensitive",
        "password: <your password>",
        "password = ${DB_PASSWORD}",
        "password = getpass.getpass()",
        "def login(user: str, password: str) -> None: ...",
        "the secret: never give up",
        "secret sauce = tomatoes and basil",
        "her secret is safe with me, key: C major",
        "the key is under the mat: 12 steps down",
        "max_tokens=4096, token_count: 128000, tokens: 12",
        "next_page_token=CAUQAABBCC1234567",
        "token = self.tokenizer.token",
        "risk-adjusted-return-2024-portfolio-review",
        "task-0123456789abcdef0123456789ab is done",
        "sk-learn-compatible-estimators-for-all",
        "a bearer of bad news; bearer authentication",
        "http://localhost:3000/users/@me and http://x:8080/a@2x.png",
        "mail anna@example.com, or see https://example.com/a:b@c",
        "docker run -u 1000:1000 image",
        "git commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "public key: ssh-rsa AAAA",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "",
        "\ud800 lone",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact(text).text == text
    assert redact(text).kinds == ()


@pytest.mark.parametrize("name", ["密码", "パスワード", "пароль", "contraseña", "비밀번호"])
@pytest.mark.parametrize("said", ["{}: Tr0ub4dor", "{}：Tr0ub4dor", "{}是Tr0ub4dor", "{}=Tr0ub4dor"])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_name_that_json_spells_in_ascii(name: str, said: str, times: int) -> None:  # B-C16
    text = said.format(name)
    for _ in range(times):
        text = json.dumps({"said": text})
    assert "Tr0ub4dor" not in redact(text).text


_PIECES = st.one_of(
    st.sampled_from([canary.text for canary in CANARIES.values()]),
    st.sampled_from([canary.secret for canary in CANARIES.values()]),
    st.sampled_from(
        [
            "password",
            "token",
            "=",
            ": ",
            '"',
            "'",
            "\\",
            "://",
            "@",
            " ",
            "\n",
            "[redacted:jwt]",
            "<",
            "-u a:",
            "--",
        ]
    ),
    st.text(max_size=12),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES, max_size=10).map("".join))
def test_taking_out_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text
    assert redact(once.text).kinds == ()


_FRAGMENTS = [
    "a", " ", "\\", "=", "'", "sk-", "sk-a-", "eyJ", "eyJa.", "SG.", "gh", "AKIA1234567890ABCDEF", "xoxb-",
    "AKIA1234567890ABCDEF ", "hooks.slack.com/a/", "token=", "token", "password=", "password: ", "password:\n",
    "password= x", "password=&a", "password=a(", "password=(", 'password="', 'password="\\', 'password\\"',
    "password is ",
    'token="', "token=https://", "token='", 'token=\\"', "secret=a,b=", "api key", "credentials", "密码", "://", "://a:",
    "://a:b@", "://a:b/", "://a:b@c@", "-----BEGIN PRIVATE " + "KEY-----", "-----END PRIVATE " + "KEY-----",
    "-----BEGIN PRIVATE " + "KEY-----\nAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAA\n", "Proc-Type: ", "bearer ", "bearer",
    "authorization:", "authorization: basic ", "authorization: a=b,", "authorization: abcd c=d", "--password ", "--a-",
    "--a-b-c-token=", "--secret='",
    "<password>", "<a", "<token ", "</password>", "-u a:b", " -u", "  --user", "[redacted:", "[redacted:password]", "İ",
]  # fmt: skip


def _spent(text: str) -> float:
    best = float("inf")
    for _ in range(2):
        before = time.process_time()
        redact(text)
        best = min(best, time.process_time() - before)
    return best


@pytest.mark.parametrize("fragment", _FRAGMENTS)
@pytest.mark.parametrize("before", ["", "password=", 'token="', "</ key token password=a://"])
def test_four_times_the_text_costs_four_times_the_time(fragment: str, before: str) -> None:
    """What is quadratic costs sixteen times as much; what is over at once is not worth measuring."""
    few, many = (before + fragment * (size // len(fragment)) for size in (12_000, 48_000))
    small = _spent(few)
    assert small < 0.005 or _spent(many) < 9 * small


@pytest.mark.parametrize(
    "fragment", ["password=a(", "://a:b@", 'token="', "eyJ", "sk-a-", "AAAAAAAAAAAAAAAA\n"]
)
def test_a_mebibyte_of_the_worst(fragment: str) -> None:
    size = 1024 * 1024
    whole, part = (fragment * (size // share // len(fragment)) for share in (1, 16))
    assert _spent(whole) < 9 * 4 * max(_spent(part), 0.002)


_DENSE = [
    "[redacted:password]",
    " -u a:b",
    "password=hunter2x ",
    "密码是abc12 ",
    "://a:b/",
    "://",
    "bearer abc123def456 ",
]


@pytest.mark.parametrize("fragment", _DENSE)
def test_secret_after_secret_costs_little_and_hides_all(fragment: str) -> None:
    """A request of 6 MiB has 29 s: a mebibyte may take two. What this costs is under one; it was seven."""
    text = fragment * (1024 * 1024 // len(fragment.encode()))
    assert _spent(text) < 2
    assert redact(redact(text).text).kinds == ()


def test_many_secrets_far_apart_leave_what_stands_between() -> None:
    rest = "All is well. " * 25
    text = f"password=hunter2x {rest}" * 1100
    assert redact(text).text == f"password=[redacted:password] {rest}" * 1100


def test_values_under_a_key_that_names_a_secret() -> None:  # B-C16
    value = {
        "user": "ann",
        "password": "open sesame",
        "dbPassword": "x1",
        "PIN": 1234,
        "login": {"passwd": 4711, "client_secret": "a b c d e f"},
        "headers": {"Authorization": "whatever it is", "X-Auth-Token": "abcd-efgh-ijkl"},
        "credentials": ["one two", "three four"],
        "steps": ["say hello", "password: hunter2"],
    }
    clean, kinds = redact_value(value)
    assert clean == {
        "user": "ann",
        "password": "[redacted:password]",
        "dbPassword": "[redacted:password]",
        "PIN": 1234,
        "login": {"passwd": "[redacted:password]", "client_secret": "[redacted:secret]"},
        "headers": {"Authorization": "[redacted:secret]", "X-Auth-Token": "[redacted:secret]"},
        "credentials": ["[redacted:secret]", "[redacted:secret]"],
        "steps": ["say hello", "password: [redacted:password]"],
    }
    assert set(kinds) == {"password", "secret"}
    assert redact_value(clean) == (clean, ())


def test_values_that_only_sound_like_it_stay() -> None:
    value = {
        "token": "the",
        "tokens": {"input": 12, "output": 3},
        "max_tokens": 4096,
        "next_page_token": "CAUQAABBCC1234567",
        "password": {"type": "string", "description": "at least 8 characters"},
        "secret": None,
        "has_password": True,
        "passed": "12 tests",
        "monkey": "banana 42",
    }
    assert redact_value(value) == (value, ())


def test_a_key_that_is_a_secret_itself() -> None:  # B-C16
    token = CANARIES["github_token"].secret
    assert redact_value({token: {"x": 1}})[0] == {"[redacted:github_token]": {"x": 1}}
