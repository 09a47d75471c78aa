"""What an operator is told: alarms on every function and on HTTP, and one page that shows them all."""

import json
from typing import Any

import pytest

from infra.local.template import Template, resolve

NAMES = {"AWS::Region": "eu-west-1", "AWS::StackName": "memory"}


@pytest.fixture(scope="module")
def dashboard(template: Template) -> Any:
    """The dashboard's body, with every name standing for itself."""
    (properties,) = template.resources("AWS::CloudWatch::Dashboard").values()
    logical = template.document["Resources"].keys()
    names = {**{name: name for name in logical}, **{f"{name}.QueueName": name for name in logical}, **NAMES}
    assert properties["DashboardName"] == {"Ref": "AWS::StackName"}
    return json.loads(resolve(properties["DashboardBody"], names))


def shown(dashboard: Any, dimension: str) -> set[tuple[str, str]]:
    """(metric, resource) of everything shown by that dimension."""
    metrics = [metric for widget in dashboard["widgets"] for metric in widget["properties"]["metrics"]]
    return {(metric[1], metric[3]) for metric in metrics if metric[2] == dimension}


def test_every_function_has_an_alarm_on_its_errors(template: Template, functions: dict[str, Any]) -> None:
    alarms = {
        alarm["Dimensions"][0]["Value"]["Ref"]: (alarm["Statistic"], alarm["Threshold"])
        for alarm in template.resources("AWS::CloudWatch::Alarm").values()
        if alarm["MetricName"] == "Errors"
    }
    assert alarms == dict.fromkeys(functions, ("Average", 0.05))


def test_an_alarm_on_http_errors(template: Template) -> None:
    (alarm,) = [a for a in template.resources("AWS::CloudWatch::Alarm").values() if a["MetricName"] == "5xx"]
    assert (alarm["Namespace"], alarm["Statistic"], alarm["Threshold"]) == (
        "AWS/ApiGateway",
        "Average",
        0.01,
    )


def test_every_alarm_tells_somebody(template: Template) -> None:
    told = {"Fn::If": ["HasAlarmEmail", [{"Ref": "AlarmTopic"}], {"Ref": "AWS::NoValue"}]}
    for name, alarm in template.resources("AWS::CloudWatch::Alarm").items():
        assert (name, alarm["AlarmActions"]) == (name, told)


def test_the_dashboard_shows_every_function(dashboard: Any, functions: dict[str, Any]) -> None:
    metrics = ("Invocations", "Errors", "Duration")
    assert shown(dashboard, "FunctionName") == {(m, name) for m in metrics for name in functions}


def test_the_dashboard_shows_every_queue(dashboard: Any, template: Template) -> None:
    queues = template.resources("AWS::SQS::Queue").keys()
    live = {name for name in queues if "DeadLetter" not in name}
    assert shown(dashboard, "QueueName") == {
        *(("ApproximateNumberOfMessagesVisible", name) for name in queues),
        *(("ApproximateAgeOfOldestMessage", name) for name in live),
    }


def test_the_widgets_do_not_lie_on_each_other(dashboard: Any) -> None:
    taken = [
        (x, y)
        for widget in dashboard["widgets"]
        for x in range(widget["x"], widget["x"] + widget["width"])
        for y in range(widget["y"], widget["y"] + widget["height"])
    ]
    assert len(taken) == len(set(taken))
    assert max(x for x, _ in taken) < 24


def test_the_stages_metrics_are_named_as_the_lines_name_them(template: Template, dashboard: Any) -> None:
    """Namespace, the stack, the stage, and a count that some line has (tests/handlers/test_lines.py)."""
    work = {"appended_messages", "commits", "extracted", "committed", "healed"}
    counts = work | {"given_up", "errors", "failed"}
    metrics = [metric for widget in dashboard["widgets"] for metric in widget["properties"]["metrics"]]
    own = [metric[:6] for metric in metrics if metric[0] == "Strandline"]
    assert {metric[1] for metric in own} == counts
    assert all(metric[2:5] == ["service", "memory", "stage"] for metric in own)
    alarms = [
        a for a in template.resources("AWS::CloudWatch::Alarm").values() if a["Namespace"] == "Strandline"
    ]
    assert {(a["MetricName"], a["Dimensions"][1]["Value"]) for a in alarms} == {
        ("given_up", "commit"),
        ("given_up", "extract"),
        ("given_up", "merge"),
        ("given_up", "learn"),
        ("failed", "sweep"),
    }
