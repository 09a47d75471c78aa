"""The deployment's settings, read from the environment once and checked. The only place that reads it."""

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from strandline.domain.auto_commit import AutoCommitPolicy, Triggers
from strandline.domain.screening import Redaction
from strandline.pipeline.services import Rules

_URL = re.compile(r"https?://[^/?#@\s]+(/[^?#@\s]*)?")
_SAFE_FOR_A_KEY = re.compile(r"https://|http://(127\.0\.0\.1|localhost|\[::1\])([:/]|$)")


class ModelSettings(BaseModel):
    """Which language model reads archives, if any. Whether they go together is checked where one is made: a mistake
    here must not stop an append."""

    model_config = ConfigDict(frozen=True)

    provider: Literal["none", "bedrock", "openai"] = Field(default="none", alias="STRANDLINE_MODEL_PROVIDER")
    model_id: str = Field(default="", alias="STRANDLINE_MODEL_ID")
    model_base_url: str = Field(default="", alias="STRANDLINE_MODEL_BASE_URL")
    model_key_parameter: str = Field(default="", alias="STRANDLINE_MODEL_KEY_PARAMETER")
    model_key_secret: str = Field(default="", alias="STRANDLINE_MODEL_KEY_SECRET")
    model_output: Literal["tool", "json_schema"] = Field(default="tool", alias="STRANDLINE_MODEL_OUTPUT")
    model_temperature: str = Field(
        default="0", alias="STRANDLINE_MODEL_TEMPERATURE", pattern=r"^([0-9](\.[0-9]+)?)?$"
    )
    model_max_output_tokens: int = Field(default=4_096, ge=256, alias="STRANDLINE_MODEL_MAX_OUTPUT_TOKENS")
    model_part_tokens: int = Field(default=4_000, ge=100, alias="STRANDLINE_MODEL_PART_TOKENS")
    model_timeout_seconds: int = Field(default=75, ge=1, le=90, alias="STRANDLINE_MODEL_TIMEOUT_SECONDS")

    @property
    def temperature(self) -> float | None:
        """None: left to the model, since some refuse to be told."""
        return float(self.model_temperature) if self.model_temperature else None

    @property
    def wrong(self) -> str | None:
        """What keeps the model from being asked, naming the variable; None when nothing does."""
        if not self.model_id:
            return "STRANDLINE_MODEL_ID is not set"
        if self.provider == "bedrock":
            return None
        if not _URL.fullmatch(self.model_base_url):
            return "STRANDLINE_MODEL_BASE_URL is not an http(s) URL without user and query"
        if self.model_key_parameter and self.model_key_secret:
            return "STRANDLINE_MODEL_KEY_PARAMETER and STRANDLINE_MODEL_KEY_SECRET are both set"
        has_key = bool(self.model_key_parameter or self.model_key_secret)
        if has_key and not _SAFE_FOR_A_KEY.match(self.model_base_url):
            return "STRANDLINE_MODEL_BASE_URL is not https, and a key goes over https only"
        return None


class Settings(ModelSettings):
    """What the template gives every function. Raises ValidationError, naming the variable, when one is missing."""

    bucket: str = Field(alias="STRANDLINE_BUCKET", min_length=1)
    table: str = Field(alias="STRANDLINE_TABLE", min_length=1)
    ingest_queue_url: str = Field(default="", alias="STRANDLINE_INGEST_QUEUE_URL")
    ingest_dead_letter_queue_url: str = Field(default="", alias="STRANDLINE_INGEST_DEAD_LETTER_QUEUE_URL")
    commit_queue_url: str = Field(default="", alias="STRANDLINE_COMMIT_QUEUE_URL")
    extract_queue_url: str = Field(default="", alias="STRANDLINE_EXTRACT_QUEUE_URL")
    event_bus: str = Field(default="default", alias="STRANDLINE_EVENT_BUS", min_length=1)
    merge_queue_url: str = Field(default="", alias="STRANDLINE_MERGE_QUEUE_URL")
    learn_queue_url: str = Field(default="", alias="STRANDLINE_LEARN_QUEUE_URL")
    learning: bool = Field(default=True, alias="STRANDLINE_LEARNING")
    erase_queue_url: str = Field(default="", alias="STRANDLINE_ERASE_QUEUE_URL")
    root_key_sha256: str = Field(default="", alias="STRANDLINE_ROOT_KEY_SHA256", pattern="^([0-9a-f]{64})?$")
    jwt_issuer: str = Field(default="", alias="STRANDLINE_JWT_ISSUER")
    jwt_account_claim: str = Field(default="account_id", alias="STRANDLINE_JWT_ACCOUNT_CLAIM", min_length=1)
    jwt_user_claim: str = Field(default="sub", alias="STRANDLINE_JWT_USER_CLAIM", min_length=1)
    jwt_role_claim: str = Field(default="role", alias="STRANDLINE_JWT_ROLE_CLAIM", min_length=1)
    token_encoding: str = Field(default="cl100k_base", alias="STRANDLINE_TOKEN_ENCODING")
    embedder: Literal["none", "bedrock", "local"] = Field(default="none", alias="STRANDLINE_EMBEDDER")
    embedder_model: str = Field(
        default="amazon.titan-embed-text-v2:0", alias="STRANDLINE_EMBEDDER_MODEL", min_length=1
    )
    max_receives: int = Field(default=5, ge=1, alias="STRANDLINE_MAX_RECEIVES")
    heal_seconds: int = Field(default=900, ge=1, alias="STRANDLINE_HEAL_SECONDS")
    requests_per_minute: int = Field(default=0, ge=0, alias="STRANDLINE_REQUESTS_PER_MINUTE")
    memory_mb: int = Field(default=1024, ge=128, alias="AWS_LAMBDA_FUNCTION_MEMORY_SIZE")
    redaction: Redaction = Field(default=Redaction.REDACT, alias="STRANDLINE_REDACTION")
    redaction_allow: str = Field(default="", alias="STRANDLINE_REDACTION_ALLOW")
    memory_ttl_seconds: int = Field(default=0, ge=0, alias="STRANDLINE_MEMORY_TTL_SECONDS")
    auto_commit_default: bool = Field(default=False, alias="SESSION_AUTO_COMMIT_DEFAULT_ENABLED")
    idle_commits: bool = Field(default=False, alias="SESSION_AUTO_COMMIT_IDLE_ENABLED")
    max_age_seconds: int = Field(default=604_800, ge=0, alias="SESSION_AUTO_COMMIT_MAX_AGE_SECONDS")
    check_seconds: int = Field(default=60, ge=1, alias="SESSION_AUTO_COMMIT_CHECK_INTERVAL_SECONDS")
    scan_batch: int = Field(default=16, ge=1, le=1_000, alias="SESSION_AUTO_COMMIT_SCAN_BATCH_SIZE")
    scan_pause_seconds: float = Field(default=0, ge=0, alias="SESSION_AUTO_COMMIT_SCAN_BATCH_PAUSE_SECONDS")

    @property
    def rules(self) -> Rules:
        return Rules(
            default_policy=AutoCommitPolicy() if self.auto_commit_default else None,
            triggers=Triggers(idle=self.idle_commits, max_age_seconds=self.max_age_seconds),
            check_seconds=self.check_seconds,
            scan_batch=self.scan_batch,
            scan_pause_seconds=self.scan_pause_seconds,
            heal_seconds=self.heal_seconds,
            max_receives=self.max_receives,
            part_tokens=self.model_part_tokens,
            redaction=self.redaction,
            allowed=tuple(self.redaction_allow.split()),
            memory_ttl_seconds=self.memory_ttl_seconds or None,
            learning=self.learning,
        )


@cache
def settings() -> Settings:
    """The settings of this function."""
    return from_environment(os.environ)


def trace_header() -> str | None:
    """The trace that the platform gives the present invocation."""
    return os.environ.get("_X_AMZN_TRACE_ID")


def from_environment(environment: Mapping[str, str]) -> Settings:
    """The settings in these variables; others are not looked at."""
    names = {field.alias for field in Settings.model_fields.values() if field.alias}
    return Settings.model_validate({name: environment[name] for name in names if name in environment})
