"""The deployment's settings, read from the environment once and checked. The only place that reads it."""

import os
from collections.abc import Mapping
from functools import cache

from pydantic import BaseModel, ConfigDict, Field

from strandline.domain.auto_commit import AutoCommitPolicy
from strandline.pipeline.services import Rules


class Settings(BaseModel):
    """What the template gives every function. Raises ValidationError, naming the variable, when one is missing."""

    model_config = ConfigDict(frozen=True)

    bucket: str = Field(alias="STRANDLINE_BUCKET", min_length=1)
    table: str = Field(alias="STRANDLINE_TABLE", min_length=1)
    extract_queue_url: str = Field(default="", alias="STRANDLINE_EXTRACT_QUEUE_URL")
    merge_queue_url: str = Field(default="", alias="STRANDLINE_MERGE_QUEUE_URL")
    root_key_sha256: str = Field(default="", alias="STRANDLINE_ROOT_KEY_SHA256", pattern="^([0-9a-f]{64})?$")
    jwt_issuer: str = Field(default="", alias="STRANDLINE_JWT_ISSUER")
    jwt_account_claim: str = Field(default="account_id", alias="STRANDLINE_JWT_ACCOUNT_CLAIM", min_length=1)
    jwt_user_claim: str = Field(default="sub", alias="STRANDLINE_JWT_USER_CLAIM", min_length=1)
    jwt_role_claim: str = Field(default="role", alias="STRANDLINE_JWT_ROLE_CLAIM", min_length=1)
    token_encoding: str = Field(default="cl100k_base", alias="STRANDLINE_TOKEN_ENCODING")
    max_receives: int = Field(default=5, ge=1, alias="STRANDLINE_MAX_RECEIVES")
    heal_seconds: int = Field(default=900, ge=1, alias="STRANDLINE_HEAL_SECONDS")
    auto_commit_default: bool = Field(default=False, alias="SESSION_AUTO_COMMIT_DEFAULT_ENABLED")

    @property
    def rules(self) -> Rules:
        return Rules(
            default_policy=AutoCommitPolicy() if self.auto_commit_default else None,
            heal_seconds=self.heal_seconds,
            max_receives=self.max_receives,
        )


@cache
def settings() -> Settings:
    """The settings of this function."""
    return from_environment(os.environ)


def from_environment(environment: Mapping[str, str]) -> Settings:
    """The settings in these variables; others are not looked at."""
    names = {field.alias for field in Settings.model_fields.values() if field.alias}
    return Settings.model_validate({name: environment[name] for name in names if name in environment})
