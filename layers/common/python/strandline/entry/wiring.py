"""The composition root: which adapter stands behind which port. Nothing else makes an adapter."""

from functools import cache, partial
from typing import TYPE_CHECKING

from strandline.adapters.clock import SystemClock
from strandline.adapters.dynamodb import DynamoItems
from strandline.adapters.ids import RandomIds
from strandline.adapters.s3 import S3Objects
from strandline.adapters.sqs import SqsDeadLetters, SqsQueue
from strandline.adapters.tokens import TiktokenCounter
from strandline.entry.settings import Settings, settings
from strandline.entry.telemetry import current_trace, model_asked
from strandline.pipeline.services import Ports, Services
from strandline.ports import Model

if TYPE_CHECKING:
    from strandline.adapters.events import EventBus
    from strandline.adapters.keys import Key
    from strandline.adapters.language_model import Endpoint, LanguageModel
    from strandline.domain.extraction import Extraction, Transcript
    from strandline.domain.working_memory.update import Summary, Update
    from strandline.pipeline.library import Library
    from strandline.ports import Embedder
    from strandline.storage.quotas import Quotas


class RuleModel:
    """The rules behind the ports `Model` and `Summariser`; their word tables are loaded when first needed."""

    def extract(self, transcript: "Transcript") -> "Extraction":
        from strandline.domain import rules

        return rules.extract(transcript)

    def summarise(self, update: "Update") -> "Summary":
        from strandline.domain.working_memory.by_rules import updated
        from strandline.domain.working_memory.update import Summary

        return Summary(updated(update.before, update.messages))


def language_model(config: Settings) -> "LanguageModel":
    """The language model of a deployment, loaded when it is first asked. Raises ExtractionFailed, naming the variable,
    when its settings do not go together."""
    from strandline.adapters.language_model import LanguageModel, Patience
    from strandline.domain.errors import ExtractionFailed

    if config.wrong:
        raise ExtractionFailed(f"the language model cannot be asked: {config.wrong}")
    endpoint = _bedrock(config) if config.provider == "bedrock" else _openai_compatible(config)
    patience = Patience(config.model_timeout_seconds, config.rules.part_seconds)
    return LanguageModel(endpoint, patience, SystemClock(), RandomIds(), spent=model_asked)


def _bedrock(config: Settings) -> "Endpoint":
    from strandline.adapters.bedrock import Bedrock, Inference

    inference = Inference(config.model_id, config.model_max_output_tokens, config.temperature)
    return Bedrock(inference, config.model_timeout_seconds, SystemClock())


def _openai_compatible(config: Settings) -> "Endpoint":
    from strandline.adapters.openai_compatible import Completion, OpenAiCompatible

    completion = Completion(
        config.model_id, config.model_max_output_tokens, config.temperature, config.model_output
    )
    return OpenAiCompatible(
        config.model_base_url, completion, _key(config), config.model_timeout_seconds, SystemClock()
    )


def _key(config: Settings) -> "Key | None":
    from strandline.adapters import keys

    if config.model_key_parameter:
        return keys.ssm_parameter(config.model_key_parameter)
    return keys.secret(config.model_key_secret) if config.model_key_secret else None


def _event_bus(name: str) -> "EventBus":
    from strandline.adapters.events import EventBus

    return EventBus(name)


def ports(config: Settings) -> Ports:
    """The adapters of a deployment."""
    rules = RuleModel()
    model: Model = rules
    return Ports(
        objects=lambda: S3Objects(config.bucket),
        items=lambda: DynamoItems(config.table),
        ingest_queue=lambda: SqsQueue(config.ingest_queue_url),
        dead_letters=lambda: SqsDeadLetters(config.ingest_dead_letter_queue_url),
        commit_queue=lambda: SqsQueue(config.commit_queue_url, trace=current_trace),
        extract_queue=lambda: SqsQueue(config.extract_queue_url, trace=current_trace),
        merge_queue=lambda: SqsQueue(config.merge_queue_url, trace=current_trace),
        learn_queue=lambda: SqsQueue(config.learn_queue_url, trace=current_trace),
        erase_queue=lambda: SqsQueue(config.erase_queue_url, trace=current_trace),
        bus=lambda: _event_bus(config.event_bus),
        model=lambda: model,
        summariser=(lambda: rules) if config.provider == "none" else partial(language_model, config),
        tokens=TiktokenCounter(config.token_encoding),
        clock=SystemClock(),
        ids=RandomIds(),
        language_model=None if config.provider == "none" else partial(language_model, config),
        analyst=None if config.provider == "none" else partial(language_model, config),
        settler=None if config.provider == "none" else partial(language_model, config),
        embedder=None if config.embedder == "none" else partial(embedder, config),
    )


def embedder(config: Settings) -> "Embedder":
    """The embedder of a deployment that has one, loaded when it is first asked."""
    if config.embedder == "local":
        from strandline.adapters.local_embedder import LocalEmbedder

        return LocalEmbedder()
    from strandline.adapters.bedrock_embedder import BedrockEmbedder

    return BedrockEmbedder(config.embedder_model)


@cache
def services() -> Services:
    """The services of this function, made once per warm environment."""
    config = settings()
    return Services(ports(config), config.rules)


@cache
def quotas() -> "Quotas":
    """The limits of this function's accounts; a deployment without limits goes without the import."""
    from strandline.storage.quotas import Quotas

    known = services()
    return Quotas(known.items, known.accounts, known.clock)


@cache
def library() -> "Library":
    """The services of a function that works with memories; append goes without the import."""
    from strandline.pipeline.library import Library

    config = settings()
    return Library(ports(config), config.rules)
