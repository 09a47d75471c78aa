"""House rules of template.yaml, for cfn-lint: each queue the same block, each policy narrow, one role that erases."""

import re
from typing import Any, ClassVar

from cfnlint.rules import CloudFormationLintRule, RuleMatch
from cfnlint.template import Template

FOURTEEN_DAYS = 1209600
# AWS advises six timeouts: a throttled batch is retried by the poller while its messages stay invisible.
VISIBILITY_TIMEOUTS = 6


def _target(value: Any) -> str | None:
    """The logical id that a GetAtt names."""
    named = value.get("Fn::GetAtt") if isinstance(value, dict) else None
    return str(named[0]) if named else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _properties(template: Template, kind: str) -> dict[str, dict[str, Any]]:
    return {name: each.get("Properties", {}) for name, each in template.get_resources(kind).items()}


class QueueBlock(CloudFormationLintRule):
    """A queue has a dead-letter queue kept 14 days, an alarm on that, and an alarm on its own age."""

    id = "E9001"
    shortdesc = "A queue is queue, dead-letter queue and two alarms"
    description = "Failed messages are kept for 14 days and somebody is told; so is whoever waits too long"
    tags: ClassVar = ["strandline", "sqs"]

    def match(self, cfn: Template) -> list[RuleMatch]:
        """One match for each part that is missing."""
        queues = _properties(cfn, "AWS::SQS::Queue")
        alarms = {
            (alarm.get("MetricName"), _target(dimension.get("Value")))
            for alarm in _properties(cfn, "AWS::CloudWatch::Alarm").values()
            for dimension in alarm.get("Dimensions", [])
        }
        return [
            RuleMatch(["Resources", name], f"{name}: {missing}")
            for name in queues
            if not name.endswith("DeadLetterQueue")
            for missing in self._missing(name, queues, alarms)
        ]

    def _missing(
        self, name: str, queues: dict[str, dict[str, Any]], alarms: set[tuple[Any, str | None]]
    ) -> list[str]:
        dead_letters = f"{name.removesuffix('Queue')}DeadLetterQueue"
        wanted = {
            f"RedrivePolicy to {dead_letters}": _target(
                queues[name].get("RedrivePolicy", {}).get("deadLetterTargetArn")
            )
            == dead_letters,
            f"{dead_letters} kept for 14 days": queues.get(dead_letters, {}).get("MessageRetentionPeriod")
            == FOURTEEN_DAYS,
            f"alarm on {dead_letters}": ("ApproximateNumberOfMessagesVisible", dead_letters) in alarms,
            "alarm on its oldest message": ("ApproximateAgeOfOldestMessage", name) in alarms,
        }
        return [f"no {part}" for part, there in wanted.items() if not there]


class QueueConsumer(CloudFormationLintRule):
    """A function that consumes a queue answers partial batches, and the queue waits long enough for it."""

    id = "E9002"
    shortdesc = "A consumer reports partial batches; visibility is six timeouts"
    description = "One bad message must not bring back its whole batch, nor a slow batch come twice"
    tags: ClassVar = ["strandline", "sqs", "lambda"]

    def match(self, cfn: Template) -> list[RuleMatch]:
        """One match for each event source that breaks the rule."""
        queues = _properties(cfn, "AWS::SQS::Queue")
        matches = []
        for name, function in _properties(cfn, "AWS::Serverless::Function").items():
            for event_name, event in function.get("Events", {}).items():
                if event["Type"] == "SQS":
                    path = ["Resources", name, "Properties", "Events", event_name]
                    found = self._broken(event["Properties"], function, queues)
                    matches += [RuleMatch(path, f"{name}.{event_name}: {each}") for each in found]
        return matches

    def _broken(
        self, event: dict[str, Any], function: dict[str, Any], queues: dict[str, dict[str, Any]]
    ) -> list[str]:
        broken = []
        if "ReportBatchItemFailures" not in event.get("FunctionResponseTypes", []):
            broken.append("no ReportBatchItemFailures")
        visible_after = queues[str(_target(event["Queue"]))].get("VisibilityTimeout", 30)
        if visible_after < VISIBILITY_TIMEOUTS * function["Timeout"]:
            broken.append(f"visibility timeout below {VISIBILITY_TIMEOUTS} x {function['Timeout']} s")
        return broken


class ConditionalPolicy(CloudFormationLintRule):
    """What a parameter allows besides: one action on what the parameter names, and only where it is set."""

    id = "E9004"
    shortdesc = "A policy of its own has a condition, one action and named resources"
    description = (
        "Whoever configures nothing allows nothing; a star stands only for the regions of a named model"
    )
    tags: ClassVar = ["strandline", "iam"]

    def match(self, cfn: Template) -> list[RuleMatch]:
        """One match for each policy that is always there, or too wide."""
        matches = []
        for name, resource in cfn.get_resources("AWS::IAM::Policy").items():
            if "Condition" not in resource:
                matches.append(RuleMatch(["Resources", name], f"{name}: no condition"))
            for statement in resource["Properties"]["PolicyDocument"]["Statement"]:
                resources = statement["Resource"]
                named = resources if isinstance(resources, list) else [resources]
                if "*" in str(statement["Action"]) or not all(map(self._named, named)):
                    path = ["Resources", name, "Properties", "PolicyDocument"]
                    matches.append(RuleMatch(path, f"{name}: too wide: {statement['Action']}"))
        return matches

    def _named(self, resource: Any) -> bool:
        text = str(resource.get("Fn::Sub", "")) if isinstance(resource, dict) else ""
        rest = text.removeprefix("arn:${AWS::Partition}:").removeprefix("bedrock:*::foundation-model/")
        return rest != text and "*" not in rest and re.search(r"\$\{\w*Model", rest) is not None


class NarrowPolicy(CloudFormationLintRule):
    """A function's policy names its actions, and resources of this stack."""

    id = "E9003"
    shortdesc = "Policies name actions and resources"
    description = "A function may touch only what its stage needs; a star stands only below a bucket's prefix"
    tags: ClassVar = ["strandline", "iam"]

    def match(self, cfn: Template) -> list[RuleMatch]:
        """One match for each statement that is too wide, and for each managed policy."""
        matches = []
        for name, function in _properties(cfn, "AWS::Serverless::Function").items():
            path = ["Resources", name, "Properties", "Policies"]
            for policy in function.get("Policies", []):
                if not isinstance(policy, dict) or "Statement" not in policy:
                    matches.append(RuleMatch(path, f"{name}: write statements, not managed policies"))
                    continue
                wide = [each for each in policy["Statement"] if self._wide(each)]
                matches += [RuleMatch(path, f"{name}: too wide: {each['Action']}") for each in wide]
        return matches

    def _wide(self, statement: dict[str, Any]) -> bool:
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        resources = statement["Resource"]
        resources = resources if isinstance(resources, list) else [resources]
        return any("*" in action for action in actions) or not all(map(self._ours, resources))

    def _ours(self, resource: Any) -> bool:
        if not isinstance(resource, dict):
            return False
        if "Fn::If" in resource:
            return all(map(self._ours, resource["Fn::If"][1:]))
        below = str(resource.get("Fn::Sub", ""))
        narrow = below.startswith("${") and ("*" not in below or below.startswith("${MemoryBucket.Arn}/v1/"))
        named = below.startswith("arn:${AWS::Partition}:") and "*" not in below and below.endswith("}")
        return _target(resource) is not None or narrow or named


class EraseAlone(CloudFormationLintRule):
    """Only the erase function's role may remove anything below sessions, or any version."""

    id = "E9005"
    shortdesc = "Only erase removes what was said"
    description = (
        "Archives are what memories are rebuilt from: a fault elsewhere must not be able to lose one"
    )
    tags: ClassVar = ["strandline", "iam", "s3"]
    removing: ClassVar = frozenset({"s3:DeleteObject", "s3:DeleteObjectVersion"})
    elsewhere: ClassVar = re.compile(r"/v1/\*/(memories|index|journal|types)/\*(\.layers/\*)?$")

    def match(self, cfn: Template) -> list[RuleMatch]:
        """One match for each statement of another function that lets it remove such a thing."""
        return [
            RuleMatch(["Resources", name, "Properties", "Policies"], f"{name}: only erase may {action}")
            for name, function in _properties(cfn, "AWS::Serverless::Function").items()
            if name != "EraseFunction"
            for policy in function.get("Policies", [])
            if isinstance(policy, dict)
            for statement in policy.get("Statement", [])
            for action in sorted(self.removing & set(_listed(statement["Action"])))
            if action == "s3:DeleteObjectVersion"
            or not all(map(self._elsewhere, _listed(statement["Resource"])))
        ]

    def _elsewhere(self, resource: Any) -> bool:
        below = resource.get("Fn::Sub", "") if isinstance(resource, dict) else resource
        return self.elsewhere.search(str(below)) is not None
