"""Secrets of every kind, made up anew at run time: nothing here is one, and no scanner of the repository finds one."""

import random
import string
from collections.abc import Mapping
from dataclasses import dataclass

_CAPITALS = string.ascii_uppercase + string.digits
_ALNUM = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Canary:
    """A text that holds a secret, and the piece of it that must be found nowhere."""

    text: str
    secret: str


def chance(rng: random.Random, count: int, alphabet: str = _ALNUM) -> str:
    """Characters by chance, a small and a capital letter and a digit among them where the alphabet has them."""
    while True:
        made = "".join(rng.choice(alphabet) for _ in range(count))
        kinds = [any(c in group for c in made) for group in (_ALNUM[:26], _ALNUM[26:52], string.digits)]
        if all(kinds) or (alphabet != _ALNUM and any(c.isdigit() for c in made)):
            return made


def canaries(seed: int = 1) -> Mapping[str, Canary]:
    """One of each kind, by the kind that its marker names (with `/…` for variants)."""
    rng = random.Random(seed)
    tokens = {
        "openai_key": "sk-" + "proj-" + chance(rng, 48),
        "openai_key/old": "sk-" + chance(rng, 48),
        "anthropic_key": "sk-" + "ant-api03-" + chance(rng, 90),
        "github_token": "gh" + "p_" + chance(rng, 36),
        "github_token/oauth": "gh" + "o_" + chance(rng, 36),
        "github_token/app": "gh" + "s_" + chance(rng, 36),
        "github_token/fine": "github" + "_pat_" + chance(rng, 22) + "_" + chance(rng, 59),
        "gitlab_token": "gl" + "pat-" + chance(rng, 20),
        "aws_access_key_id": "AK" + "IA" + chance(rng, 16, _CAPITALS),
        "aws_access_key_id/session": "AS" + "IA" + chance(rng, 16, _CAPITALS),
        "jwt": ".".join(("ey" + "J" + chance(rng, 33), "ey" + "J" + chance(rng, 60), chance(rng, 43))),
        "slack_token": "xo" + "xb-123456789012-1234567890123-" + chance(rng, 24),
        "google_api_key": "AI" + "za" + chance(rng, 35),
        "stripe_key": "sk" + "_live_" + chance(rng, 24),
        "npm_token": "np" + "m_" + chance(rng, 36),
        "pypi_token": "py" + "pi-AgEIcHlwaS5vcmc" + chance(rng, 70),
        "hugging_face_token": "hf" + "_" + chance(rng, 34),
        "sendgrid_key": "SG" + "." + chance(rng, 22) + "." + chance(rng, 43),
    }
    password, word = chance(rng, 14), chance(rng, 40)
    named = {
        "password": (f"password: {password}", password),
        "password/json": (f'{{"password": "{password}"}}', password),
        "password/escaped": (f'{{\\"password\\": \\"{password}\\"}}', password),
        "password/assigned": (f"passwd={password}", password),
        "password/environment": (f"export DB_PASSWORD='{password}'", password),
        "password/flag": (f"mysql --password {password} -h db", password),
        "password/markdown": (f"**Password:** {password}", password),
        "password/said": (f"my password is {password}, by the way", password),
        "password/chinese": (f"密码：{password}", password),
        "password/tag": (f"<password>{password}</password>", password),
        "password/connection": (f"Server=db;Uid=app;Pwd={password};Encrypt=yes", password),
        "url_password": (f"postgres://app:{password}@db.example:5432/app", password),
        "bearer_token": (f"Authorization: Bearer {word}", word),
        "bearer_token/curl": (f"curl -H 'authorization: bearer {word}' https://api.example", word),
        "authorization": (f"Authorization: Basic {word}", word),
        "secret": (f"api_key={word}", word),
        "secret/json": (f'{{"client_secret": "{word}"}}', word),
        "secret/query": (f"https://api.example/v1?token={word}&page=2", word),
        "secret/aws": (f"aws_secret_access_key = {word}", word),
        "aws_secret_key": (f"{tokens['aws_access_key_id']},{word},us-east-1", word),
        **_private_keys(rng),
    }
    return {
        **{kind: Canary(f"it is {token}, I think", token) for kind, token in tokens.items()},
        **{kind: Canary(text, secret) for kind, (text, secret) in named.items()},
    }


def _private_keys(rng: random.Random) -> Mapping[str, tuple[str, str]]:
    begin, end = ("-----" + f"{edge} RSA PRIVATE" + " KEY-----" for edge in ("BEGIN", "END"))
    lines = [chance(rng, 64) for _ in range(4)]
    spelt_out = "\\n".join((begin, *lines, end))
    whole = "\n".join((begin, *lines, end))
    return {
        "private_key": (f"here it is:\n{whole}\nthank you", lines[1]),
        "private_key/spelt_out": (f'"key": "{spelt_out}\\n"', lines[3]),
        "private_key/cut_behind": ("\n".join((begin, *lines[:2], lines[2][:30])), lines[2][:30]),
        "private_key/cut_before": ("\n".join((*lines[2:], end, "and so on")), lines[2]),
    }


CANARIES = canaries()
