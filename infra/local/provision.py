"""Creates the template's bucket, table, bus and queues in the emulators. All of it may be there already."""

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from infra.local.emulators import Emulators
from infra.local.template import ACCOUNT, REGION, Properties, Template, resolve

PSEUDO = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::StackName": "strandline",
}
TABLE_PROPERTIES = (
    "AttributeDefinitions",
    "BillingMode",
    "GlobalSecondaryIndexes",
    "KeySchema",
    "LocalSecondaryIndexes",
)
QUEUE_ATTRIBUTES = (
    "VisibilityTimeout",
    "MessageRetentionPeriod",
    "DelaySeconds",
    "FifoQueue",
    "ContentBasedDeduplication",
    "DeduplicationScope",
    "FifoThroughputLimit",
    "MaximumMessageSize",
    "RedrivePolicy",
)


def names(template: Template, sqs_endpoint: str) -> dict[str, str]:
    """What Ref and GetAtt of parameters, buckets, tables, buses and queues mean here."""
    known = dict(template.parameters) | PSEUDO
    known |= {f"Condition.{name}": str(holds).lower() for name, holds in template.conditions().items()}
    for name, properties in template.resources("AWS::Events::EventBus").items():
        bus = resolve(properties["Name"], known)
        known |= {name: bus, f"{name}.Arn": f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/{bus}"}
    for name in template.resources("AWS::S3::Bucket"):
        bucket = f"strandline-{name.lower()}"
        known |= {name: bucket, f"{name}.Arn": f"arn:aws:s3:::{bucket}"}
    for name in template.resources("AWS::DynamoDB::Table"):
        known |= {name: name, f"{name}.Arn": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}"}
    for name, properties in template.resources("AWS::SQS::Queue").items():
        queue = f"{name}.fifo" if properties.get("FifoQueue") else name
        known |= {
            name: f"{sqs_endpoint}/{ACCOUNT}/{queue}",
            f"{name}.QueueName": queue,
            f"{name}.Arn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}",
        }
    return known


def create(template: Template, known: Mapping[str, str], emulators: Emulators) -> None:
    """Creates everything under the names in `known`."""
    for name, properties in template.resources("AWS::S3::Bucket").items():
        _bucket(emulators.client("s3"), known[name], properties)
    for name, properties in template.resources("AWS::DynamoDB::Table").items():
        _table(emulators.client("dynamodb"), known[name], resolve(properties, known))
    for name in template.resources("AWS::Events::EventBus"):
        _bus(emulators.client("events"), known[name])
    queues = template.resources("AWS::SQS::Queue")
    for name in sorted(queues, key=lambda each: "RedrivePolicy" in queues[each]):  # dead-letter queues first
        _queue(emulators.client("sqs"), known[f"{name}.QueueName"], resolve(queues[name], known))


def keep_key(name: str, key: str, emulators: Emulators) -> None:
    """A model's key, where the functions read it: it stays in the emulator's memory."""
    ssm = emulators.client("ssm")
    ssm.put_parameter(Name=name, Value=key, Type="SecureString", Overwrite=True)


def _bucket(s3: Any, bucket: str, properties: Properties) -> None:
    with contextlib.suppress(s3.exceptions.BucketAlreadyOwnedByYou):
        s3.create_bucket(Bucket=bucket)
    # Encryption, the policies and the lifecycle mean nothing on one's own disk.
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration=properties["VersioningConfiguration"])


def _bus(events: Any, bus: str) -> None:
    with contextlib.suppress(events.exceptions.ResourceAlreadyExistsException):
        events.create_event_bus(Name=bus)


def _table(dynamodb: Any, table: str, properties: Properties) -> None:
    dynamodb.create_table(
        TableName=table, **{key: properties[key] for key in TABLE_PROPERTIES if key in properties}
    )
    dynamodb.update_time_to_live(
        TableName=table, TimeToLiveSpecification=properties["TimeToLiveSpecification"]
    )


def _queue(sqs: Any, queue: str, properties: Properties) -> None:
    attributes = {key: _attribute(properties[key]) for key in QUEUE_ATTRIBUTES if properties.get(key)}
    sqs.create_queue(QueueName=queue, Attributes=attributes)


def _attribute(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return json.dumps(value)
    return str(value)
