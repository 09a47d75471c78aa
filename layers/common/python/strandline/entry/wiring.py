"""The composition root: which adapter stands behind which port. Nothing else makes an adapter."""

from functools import cache
from typing import TYPE_CHECKING

from strandline.adapters.clock import SystemClock
from strandline.adapters.dynamodb import DynamoItems
from strandline.adapters.ids import RandomIds
from strandline.adapters.s3 import S3Objects
from strandline.adapters.sqs import SqsQueue
from strandline.adapters.tokens import TiktokenCounter
from strandline.entry.settings import Settings, settings
from strandline.pipeline.services import Ports, Services
from strandline.ports import Model

if TYPE_CHECKING:
    from strandline.domain.extraction import Extraction, Transcript
    from strandline.pipeline.library import Library


class RuleModel:
    """The deterministic extractor behind the `Model` port; its word tables are loaded when first needed."""

    def extract(self, transcript: "Transcript") -> "Extraction":
        from strandline.domain import rules

        return rules.extract(transcript)


def ports(config: Settings) -> Ports:
    """The adapters of a deployment."""
    model: Model = RuleModel()
    return Ports(
        objects=lambda: S3Objects(config.bucket),
        items=lambda: DynamoItems(config.table),
        extract_queue=lambda: SqsQueue(config.extract_queue_url),
        merge_queue=lambda: SqsQueue(config.merge_queue_url),
        model=lambda: model,
        tokens=TiktokenCounter(config.token_encoding),
        clock=SystemClock(),
        ids=RandomIds(),
    )


@cache
def services() -> Services:
    """The services of this function, made once per warm environment."""
    config = settings()
    return Services(ports(config), config.rules)


@cache
def library() -> "Library":
    """The services of a function that works with memories; append goes without the import."""
    from strandline.pipeline.library import Library

    config = settings()
    return Library(ports(config), config.rules)
