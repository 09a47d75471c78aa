"""JSON web tokens: the gateway has checked them, and says what they claim."""

from typing import Any

import pytest

from tests.handlers.service import Answer, Service
from tests.handlers.test_events import event

ISSUER = "https://login.example.com/"
CLAIMS = {"iss": ISSUER, "sub": "mia", "account_id": "demo"}


def list_sessions(service: Service, claims: Any, **headers: str) -> Answer:
    sample = event("api_session_list")
    sample["requestContext"]["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
    sample["headers"] = headers
    return service.answer("ApiFunction", sample)


def whose(service: Service, claims: Any, **headers: str) -> Any:
    sample = event("api_session_look")
    sample["requestContext"]["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
    sample["headers"] = headers
    sample["rawQueryString"] = "auto_create=true"
    sample["queryStringParameters"] = {"auto_create": "true"}
    return service.answer("ApiFunction", sample).result["user"]


@pytest.fixture
def tokens(service: Service) -> Service:
    service.configure(STRANDLINE_JWT_ISSUER=ISSUER)
    return service


@pytest.mark.parametrize("role", [{}, {"role": "user"}])
def test_a_token_names_account_and_user(tokens: Service, role: dict[str, str]) -> None:
    assert whose(tokens, CLAIMS | role) == {"account_id": "demo", "user_id": "mia"}


def test_a_users_token_acts_for_nobody_else(tokens: Service) -> None:
    others = {"x-strandline-user": "bob", "x-strandline-account": "acme"}
    assert whose(tokens, CLAIMS, **others) == {"account_id": "demo", "user_id": "mia"}


def test_an_admins_token_acts_within_its_account(tokens: Service) -> None:
    admin = CLAIMS | {"role": "admin"}
    assert whose(tokens, admin, **{"x-strandline-user": "bob"})["user_id"] == "bob"
    other = list_sessions(tokens, admin, **{"x-strandline-account": "acme", "x-strandline-user": "bob"})
    assert other.refusal == (403, "PERMISSION_DENIED")


def test_the_claims_can_have_other_names(tokens: Service) -> None:
    tokens.configure(STRANDLINE_JWT_ACCOUNT_CLAIM="org", STRANDLINE_JWT_USER_CLAIM="email")
    claims = {"iss": ISSUER, "org": "demo", "email": "mia@example.com"}
    assert whose(tokens, claims) == {"account_id": "demo", "user_id": "mia@example.com"}


@pytest.mark.parametrize(
    "claims",
    [
        None,
        {},
        {"iss": ISSUER},
        {"iss": ISSUER, "sub": "mia"},
        {"iss": ISSUER, "account_id": "demo"},
        {"sub": "mia", "account_id": "demo"},
        CLAIMS | {"iss": "https://evil.example.com/"},
        CLAIMS | {"sub": ""},
        CLAIMS | {"sub": ["mia", "bob"]},
        CLAIMS | {"sub": "mia/../bob"},
        CLAIMS | {"account_id": "a" * 129},
        CLAIMS | {"role": "root"},
        CLAIMS | {"role": "god"},
        CLAIMS | {"role": ""},
        CLAIMS | {"role": "[admin]"},
    ],
)
def test_a_token_that_names_nobody_is_401_and_reads_nothing(tokens: Service, claims: Any) -> None:  # B-A14
    before = len(tokens.world.calls.names)
    assert list_sessions(tokens, claims).refusal == (401, "UNAUTHENTICATED")
    assert len(tokens.world.calls.names) == before


def test_without_an_issuer_no_token_counts(service: Service) -> None:  # B-A14
    assert list_sessions(service, CLAIMS).refusal == (401, "UNAUTHENTICATED")
    assert list_sessions(service, CLAIMS | {"iss": ""}).refusal == (401, "UNAUTHENTICATED")
