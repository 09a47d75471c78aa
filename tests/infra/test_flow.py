"""`strandline.flow.STAGES`, the drawing, against template.yaml, the wiring."""

from typing import Any, get_args

import pytest

from infra.local.template import Template
from strandline.domain.events import Event
from strandline.flow import STAGES, Stage

BY_FUNCTION = {stage.function: stage for stage in STAGES}
CONSUMERS = {
    message: [trigger for trigger in stage.triggers if trigger.endswith("Queue")]
    for stage in STAGES
    for message in (stage.consumes, *stage.besides)
    if message
}


def triggers(template: Template, function: str) -> set[str]:
    found = {route.key for route in template.routes() if route.function == function}
    found |= {trigger.queue for trigger in template.queue_triggers() if trigger.function == function}
    events = template.resources("AWS::Serverless::Function")[function].get("Events", {}).values()
    found |= {each["Properties"]["ScheduleExpression"] for each in events if each["Type"] == "ScheduleV2"}
    if any(route.authorizer == function for route in template.routes()):
        found.add("authorizer")
    return found


def queues_it_may_send_to(function: Any) -> set[str]:
    resources = [
        statement["Resource"]
        for policy in function["Policies"]
        for statement in policy["Statement"]
        if statement["Action"] == "sqs:SendMessage"
    ]
    flat = [each for found in resources for each in (found if isinstance(found, list) else [found])]
    return {each["Fn::GetAtt"][0] for each in flat}


def test_every_function_is_a_stage(functions: dict[str, Any]) -> None:
    assert functions.keys() == BY_FUNCTION.keys()


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.word)
def test_triggers(template: Template, stage: Stage) -> None:
    assert triggers(template, stage.function) == set(stage.triggers)


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.word)
def test_one_word_names_the_slice(functions: dict[str, Any], stage: Stage) -> None:
    assert stage.function == f"{stage.word.capitalize()}Function"
    assert functions[stage.function]["CodeUri"] == f"functions/{stage.word}"
    assert stage.use_case in (None, f"strandline.pipeline.{stage.word}:run_{stage.word}")
    assert stage.consumes in (None, f"{stage.word.capitalize()}Requested")


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.word)
def test_may_send_what_it_emits(functions: dict[str, Any], stage: Stage) -> None:
    wanted = {queue for message in stage.emits for queue in CONSUMERS[message]}
    assert wanted <= queues_it_may_send_to(functions[stage.function])


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.word)
def test_may_publish_what_it_tells_of(functions: dict[str, Any], stage: Stage) -> None:
    statements = [s for policy in functions[stage.function]["Policies"] for s in policy["Statement"]]
    assert any(s["Action"] == "events:PutEvents" for s in statements) == bool(stage.events)


def test_every_event_is_told_of() -> None:
    told = {event for stage in STAGES for event in stage.events}
    assert told == {model.__name__ for model in get_args(Event)}


def test_every_message_has_one_queue_and_one_consumer(template: Template) -> None:
    consumed = [trigger.queue for trigger in template.queue_triggers()]
    own = [CONSUMERS[stage.consumes] for stage in STAGES if stage.consumes]
    assert sorted(consumed) == sorted(queue for queues in own for queue in queues)
    assert {message for stage in STAGES for message in stage.emits} <= CONSUMERS.keys()
