"""The house rules for cfn-lint: silent on the template, loud on what breaks them."""

import copy
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infra.local.template import Template

RULES = Path(__file__).parents[2] / "infra" / "rules" / "house.py"


@pytest.fixture(scope="module")
def rules() -> Any:
    spec = importlib.util.spec_from_file_location("house", RULES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def messages(rule: Any, document: Any) -> list[str]:
    # takes seconds, and whoever runs other tests collects this file too
    from cfnlint.template import Template as Linted

    return [found.message for found in rule().match(Linted("template.yaml", document))]


def changed(template: Template, change: Callable[[Any], None]) -> Any:
    document = copy.deepcopy(template.document)
    change(document["Resources"])
    return document


@pytest.mark.parametrize(
    "name", ["QueueBlock", "QueueConsumer", "NarrowPolicy", "ConditionalPolicy", "EraseAlone"]
)
def test_the_template_keeps_the_rules(template: Template, rules: Any, name: str) -> None:
    assert messages(getattr(rules, name), template.document) == []


def test_queue_without_dead_letters(template: Template, rules: Any) -> None:
    document = changed(
        template, lambda resources: resources["CommitQueue"]["Properties"].pop("RedrivePolicy")
    )
    assert messages(rules.QueueBlock, document) == ["CommitQueue: no RedrivePolicy to CommitDeadLetterQueue"]


def test_queue_without_alarms(template: Template, rules: Any) -> None:
    def change(resources: Any) -> None:
        del resources["MergeDeadLettersAlarm"], resources["MergeAgeAlarm"]

    assert messages(rules.QueueBlock, changed(template, change)) == [
        "MergeQueue: no alarm on MergeDeadLetterQueue",
        "MergeQueue: no alarm on its oldest message",
    ]


def test_dead_letters_gone_too_soon(template: Template, rules: Any) -> None:
    def change(resources: Any) -> None:
        resources["ExtractDeadLetterQueue"]["Properties"]["MessageRetentionPeriod"] = 345600

    assert messages(rules.QueueBlock, changed(template, change)) == [
        "ExtractQueue: no ExtractDeadLetterQueue kept for 14 days"
    ]


def test_consumer_of_whole_batches(template: Template, rules: Any) -> None:
    def change(resources: Any) -> None:
        event = resources["CommitFunction"]["Properties"]["Events"]["CommitQueue"]
        del event["Properties"]["FunctionResponseTypes"]

    assert messages(rules.QueueConsumer, changed(template, change)) == [
        "CommitFunction.CommitQueue: no ReportBatchItemFailures"
    ]


def test_consumer_slower_than_its_queue_waits(template: Template, rules: Any) -> None:
    def change(resources: Any) -> None:
        resources["ExtractFunction"]["Properties"]["Timeout"] = 121

    assert messages(rules.QueueConsumer, changed(template, change)) == [
        "ExtractFunction.ExtractQueue: visibility timeout below 6 x 121 s"
    ]


@pytest.mark.parametrize(
    "statement",
    [
        {"Action": "s3:*", "Resource": {"Fn::GetAtt": ["MemoryBucket", "Arn"]}},
        {"Action": ["s3:GetObject"], "Resource": "*"},
        {"Action": "s3:GetObject", "Resource": {"Fn::Sub": "${MemoryBucket.Arn}/*"}},
        {"Action": "events:PutEvents", "Resource": {"Fn::If": ["C", {"Ref": "EventBus"}, "*"]}},
        {
            "Action": "events:PutEvents",
            "Resource": {"Fn::Sub": "arn:${AWS::Partition}:events:*:event-bus/${Bus}"},
        },
        {
            "Action": "s3:GetObject",
            "Resource": [{"Fn::GetAtt": ["MemoryBucket", "Arn"]}, "arn:aws:s3:::another"],
        },
    ],
)
def test_wide_policy(template: Template, rules: Any, statement: Any) -> None:
    def change(resources: Any) -> None:
        resources["SweepFunction"]["Properties"]["Policies"][0]["Statement"] = [
            {"Effect": "Allow", **statement}
        ]

    assert messages(rules.NarrowPolicy, changed(template, change)) == [
        f"SweepFunction: too wide: {statement['Action']}"
    ]


def test_managed_policy(template: Template, rules: Any) -> None:
    document = changed(
        template,
        lambda resources: resources["ApiFunction"]["Properties"]["Policies"].append("AmazonS3FullAccess"),
    )
    assert messages(rules.NarrowPolicy, document) == ["ApiFunction: write statements, not managed policies"]


def test_a_policy_of_its_own_that_is_always_there(template: Template, rules: Any) -> None:
    document = changed(template, lambda resources: resources["InvokeModelPolicy"].pop("Condition"))
    assert messages(rules.ConditionalPolicy, document) == ["InvokeModelPolicy: no condition"]


@pytest.mark.parametrize(
    "resource",
    [
        "*",
        {"Fn::Sub": "arn:${AWS::Partition}:bedrock:${AWS::Region}::foundation-model/*"},
        {"Ref": "ModelId"},
    ],
)
def test_a_policy_of_its_own_that_is_too_wide(template: Template, rules: Any, resource: Any) -> None:
    def change(resources: Any) -> None:
        document = resources["InvokeModelPolicy"]["Properties"]["PolicyDocument"]
        document["Statement"][0]["Resource"] = resource

    found = messages(rules.ConditionalPolicy, changed(template, change))
    assert found == ["InvokeModelPolicy: too wide: bedrock:InvokeModel"]


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("s3:DeleteObject", {"Fn::Sub": "${MemoryBucket.Arn}/v1/*"}),
        ("s3:DeleteObject", {"Fn::Sub": "${MemoryBucket.Arn}/v1/*/sessions/*"}),
        (
            "s3:DeleteObject",
            [{"Fn::Sub": "${MemoryBucket.Arn}/v1/*/memories/*"}, {"Fn::Sub": "${MemoryBucket.Arn}/v1/a/*"}],
        ),
        ("s3:DeleteObjectVersion", {"Fn::Sub": "${MemoryBucket.Arn}/v1/*/memories/*"}),
    ],
)
def test_another_function_that_erases(template: Template, rules: Any, action: str, resource: Any) -> None:
    def change(resources: Any) -> None:
        statement = {"Effect": "Allow", "Action": ["s3:GetObject", action], "Resource": resource}
        resources["SweepFunction"]["Properties"]["Policies"][0]["Statement"].append(statement)

    assert messages(rules.EraseAlone, changed(template, change)) == [
        f"SweepFunction: only erase may {action}"
    ]
