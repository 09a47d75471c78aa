"""How the local run reads a template."""

from pathlib import Path

import pytest

from infra.local import provision
from infra.local.template import Route, Schedule, Template, TemplateError, resolve

SMALL = """
Parameters:
  Level: {Type: String, Default: INFO}
  Limit: {Type: Number, Default: 5}
Globals:
  Function:
    Handler: handler.handler
    Timeout: 3
    MemorySize: 128
    Environment:
      Variables: {LEVEL: !Ref Level, QUEUE: !Ref Jobs, COMMON: shared}
Resources:
  Api:
    Type: AWS::Serverless::HttpApi
    Properties:
      Auth:
        DefaultAuthorizer: Key
        Authorizers: {Key: {FunctionArn: !GetAtt Guard.Arn}}
  Layer: {Type: AWS::Serverless::LayerVersion, Properties: {ContentUri: layers/one}}
  Guard: {Type: AWS::Serverless::Function, Properties: {CodeUri: guard}}
  Work:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: work
      Timeout: 60
      Environment:
        Variables: {COMMON: own}
      Events:
        Open: {Type: HttpApi, Properties: {Method: get, Path: /open, Auth: {Authorizer: NONE}}}
        Closed: {Type: HttpApi, Properties: {Method: ANY, Path: "/{proxy+}"}}
        Jobs: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn, BatchSize: 7}}
        Tick: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(2 hours)}}
  Jobs: {Type: AWS::SQS::Queue, Properties: {FifoQueue: true}}
  Files: {Type: AWS::S3::Bucket, Properties: {}}
  State: {Type: AWS::DynamoDB::Table, Properties: {}}
"""


@pytest.fixture
def small(tmp_path: Path) -> Template:
    path = tmp_path / "template.yaml"
    path.write_text(SMALL)
    return Template(path, {"Level": "DEBUG"})


def test_functions_take_globals_and_then_their_own(small: Template, tmp_path: Path) -> None:
    work = small.functions()["Work"]
    assert (work.code, work.handler, work.timeout, work.memory) == (
        tmp_path / "work",
        "handler.handler",
        60,
        128,
    )
    assert work.environment == {"LEVEL": {"Ref": "Level"}, "QUEUE": {"Ref": "Jobs"}, "COMMON": "own"}
    assert small.functions()["Guard"].timeout == 3


def test_layers(small: Template, tmp_path: Path) -> None:
    assert small.layers() == [tmp_path / "layers/one/python"]


def test_routes_have_the_default_authorizer_unless_they_say_none(small: Template) -> None:
    assert small.routes() == [Route("GET", "/open", "Work", None), Route("ANY", "/{proxy+}", "Work", "Guard")]


def test_queue_trigger(small: Template) -> None:
    (trigger,) = small.queue_triggers()
    assert (trigger.queue, trigger.function, trigger.batch_size) == ("Jobs", "Work", 7)


def test_schedule(small: Template) -> None:
    assert small.schedules() == [Schedule("Tick", "Work", 7200)]


def test_a_schedule_that_is_no_rate_is_refused(small: Template) -> None:
    events = small.document["Resources"]["Work"]["Properties"]["Events"]
    events["Tick"]["Properties"]["ScheduleExpression"] = "cron(0 8 * * ? *)"
    with pytest.raises(TemplateError, match="rates only"):
        small.schedules()


def test_an_event_without_a_local_trigger_is_refused(small: Template) -> None:
    small.document["Resources"]["Work"]["Properties"]["Events"]["Tick"]["Type"] = "Kinesis"
    with pytest.raises(TemplateError, match="Kinesis"):
        small.routes()


def test_unknown_parameter_is_refused(tmp_path: Path, small: Template) -> None:
    with pytest.raises(TemplateError, match="Colour"):
        Template(tmp_path / "template.yaml", {"Colour": "red"})


def test_names_of_what_is_provisioned(small: Template) -> None:
    names = provision.names(small, "http://127.0.0.1:4566")
    assert names["Level"] == "DEBUG"
    assert names["Limit"] == "5"
    assert names["Jobs"] == "http://127.0.0.1:4566/000000000000/Jobs.fifo"
    assert names["Jobs.Arn"] == "arn:aws:sqs:us-east-1:000000000000:Jobs.fifo"
    assert names["Files.Arn"] == f"arn:aws:s3:::{names['Files']}"
    assert names["State"] == "State"


def test_conditions_go_by_the_parameters(small: Template) -> None:
    small.document["Conditions"] = {
        "Debug": {"Fn::Equals": [{"Ref": "Level"}, "DEBUG"]},
        "Quiet": {"Fn::Not": [{"Condition": "Debug"}]},
        "Both": {"Fn::And": [{"Condition": "Debug"}, {"Condition": "Quiet"}]},
    }
    names = provision.names(small, "http://127.0.0.1:4566")
    chosen = {"Fn::If": ["Debug", {"Ref": "Level"}, "no"]}
    assert resolve([chosen, {"Fn::If": ["Quiet", 1, 2]}, {"Fn::If": ["Both", 1, 2]}], names) == [
        "DEBUG",
        2,
        2,
    ]


def test_a_condition_that_is_not_understood_is_refused(small: Template) -> None:
    small.document["Conditions"] = {"Odd": {"Fn::Or": []}}
    with pytest.raises(TemplateError, match="condition"):
        small.conditions()


def test_resolve_replaces_at_any_depth() -> None:
    names = {"A": "a", "A.Arn": "arn:a"}
    value = {
        "x": [{"Ref": "A"}, {"Fn::Sub": "<${A}|${A.Arn}>"}],
        "y": {"z": {"Fn::GetAtt": ["A", "Arn"]}},
        "n": 1,
    }
    assert resolve(value, names) == {"x": ["a", "<a|arn:a>"], "y": {"z": "arn:a"}, "n": 1}


@pytest.mark.parametrize(
    "value", [{"Ref": "B"}, {"Fn::Sub": "${B}"}, {"Fn::GetAtt": ["A", "B"]}, {"Fn::If": ["A", 1, 2]}]
)
def test_resolve_never_guesses(value: object) -> None:
    with pytest.raises(TemplateError):
        resolve(value, {"A": "a"})
