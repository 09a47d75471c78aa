"""The template against the rules of the house that cfn-lint does not see."""

import re
from fnmatch import fnmatchcase
from typing import Any

import pytest

from infra.local.template import Template

REDRIVE = "RedrivePolicy"


def only(template: Template, kind: str) -> Any:
    (properties,) = template.resources(kind).values()
    return properties


def statements(function: Any) -> list[Any]:
    return [each for policy in function.get("Policies", []) for each in policy["Statement"]]


def actions(function: Any) -> set[str]:
    found = [each["Action"] for each in statements(function)]
    return {action for each in found for action in (each if isinstance(each, list) else [each])}


def test_bucket_is_versioned_encrypted_and_private(template: Template) -> None:
    bucket = only(template, "AWS::S3::Bucket")
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]


def test_bucket_refuses_plain_http(template: Template) -> None:
    statement = bucket_policy(template)["TlsOnly"]
    assert (statement["Effect"], statement["Principal"], statement["Action"]) == ("Deny", "*", "s3:*")
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def bucket_policy(template: Template) -> dict[str, Any]:
    """The statements of the bucket's policy by their id."""
    found = only(template, "AWS::S3::BucketPolicy")["PolicyDocument"]["Statement"]
    return {statement["Sid"]: statement for statement in found}


SESSION = "v1/acme/alice/sessions/s"
LIFE = f"{SESSION}/0123456789abcdef0123456789abcdef"
ARCHIVE = f"{LIFE}/archives/000000000001"
PARTS = ("candidates.json", "abstract.md", "overview.md", "memory_diff.json", "done.json", "failed.json")
ARCHIVED = [f"{ARCHIVE}/messages.000000000001-000000000003.jsonl", *(f"{ARCHIVE}/{part}" for part in PARTS)]
SEGMENT = f"{LIFE}/segments/000000000001-000000000002.jsonl"
TOOL_RESULT = f"{LIFE}/tool-results/call_1"


def named_in(statement: Any, key: str) -> bool:
    """Whether a statement's resources name the key, as IAM matches them."""
    patterns = [each["Fn::Sub"].removeprefix("${MemoryBucket.Arn}/") for each in statement["Resource"]]
    return any(fnmatchcase(key, pattern) for pattern in patterns)


@pytest.mark.parametrize("key", [*ARCHIVED, SEGMENT, TOOL_RESULT, f"{SESSION}/head.json"])
def test_only_the_erase_role_removes_what_was_said(template: Template, key: str) -> None:
    statement = bucket_policy(template)["SessionsStay"]
    assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
    assert statement["Action"] == ["s3:DeleteObject", "s3:DeleteObjectVersion"]
    assert statement["Condition"] == {
        "ArnNotEquals": {"aws:PrincipalArn": {"Fn::GetAtt": ["EraseFunctionRole", "Arn"]}}
    }
    assert named_in(statement, key)


ONCE = {
    "ArchivesAreWrittenOnce": {
        "Null": {"s3:if-none-match": "true"},
        "ArnNotEquals": {"aws:PrincipalArn": {"Fn::GetAtt": ["EraseFunctionRole", "Arn"]}},
    },
    "ArchivesAreRewrittenAsRead": {"Null": {"s3:if-none-match": "true", "s3:if-match": "true"}},
}


@pytest.mark.parametrize("sid", ONCE)
@pytest.mark.parametrize("key", [*ARCHIVED, SEGMENT, TOOL_RESULT])
def test_what_is_written_once_is_written_over_by_a_scrub_alone(
    template: Template, key: str, sid: str
) -> None:
    """The erase role must say what it has read; anybody else that there is nothing."""
    statement = bucket_policy(template)[sid]
    assert (statement["Effect"], statement["Principal"], statement["Action"]) == ("Deny", "*", "s3:PutObject")
    assert statement["Condition"] == ONCE[sid]
    assert named_in(statement, key)


@pytest.mark.parametrize("sid", ["SessionsStay", *ONCE])
@pytest.mark.parametrize(
    "key",
    [
        "v1/acme/alice/memories/profile.md",
        "v1/acme/alice/memories/sessions/a/b/archives/c.md",  # a star also stands for slashes
        "v1/acme/sessions/memories/topics/archives/overview.md",
        "v1/acme/alice/index/messages.idx",
    ],
)
def test_memories_can_be_written_and_removed(template: Template, sid: str, key: str) -> None:
    assert not named_in(bucket_policy(template)[sid], key)


def test_a_head_can_be_written_over(template: Template) -> None:
    assert not named_in(bucket_policy(template)["ArchivesAreWrittenOnce"], f"{SESSION}/head.json")


def test_bucket_never_expires_a_current_object(template: Template) -> None:
    """The bucket is the truth: its lifecycle may only touch what was replaced, deleted, never finished, or written with
    the tag of what nobody asks for a day later, or a month."""
    for rule in only(template, "AWS::S3::Bucket")["LifecycleConfiguration"]["Rules"]:
        if rule.get("TagFilters") == [{"Key": "kept", "Value": "day"}]:
            continue
        if rule.get("TagFilters") == [{"Key": "kept", "Value": "month"}]:
            assert rule["ExpirationInDays"] == 30
            continue
        assert rule.keys() <= {
            "Id",
            "Status",
            "TagFilters",
            "NoncurrentVersionExpiration",
            "ExpiredObjectDeleteMarker",
            "AbortIncompleteMultipartUpload",
        }


def test_old_heads_and_indexes_are_cleared_away_by_the_tag_they_are_written_with(template: Template) -> None:
    rules = only(template, "AWS::S3::Bucket")["LifecycleConfiguration"]["Rules"]
    (rule,) = [rule for rule in rules if "TagFilters" in rule and "ExpirationInDays" not in rule]
    (tag,) = rule["TagFilters"]
    assert (f"{tag['Key']}={tag['Value']}", rule["NoncurrentVersionExpiration"]) == (
        "versions=superseded",
        {"NoncurrentDays": 1},
    )


def test_table_is_on_demand_expires_items_and_can_be_restored(template: Template) -> None:
    table = only(template, "AWS::DynamoDB::Table")
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert [key["AttributeName"] for key in table["KeySchema"]] == ["pk", "sk"]


@pytest.mark.parametrize("kind", ["AWS::S3::Bucket", "AWS::DynamoDB::Table"])
def test_data_outlives_the_stack(template: Template, kind: str) -> None:
    (resource,) = [each for each in template.document["Resources"].values() if each["Type"] == kind]
    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_functions_run_on_arm_with_the_layer(template: Template, functions: dict[str, Any]) -> None:
    common = template.document["Globals"]["Function"]
    assert (common["Runtime"], common["Architectures"]) == ("python3.12", ["arm64"])
    assert common["Layers"] == [{"Ref": "CommonLayer"}]
    for function in functions.values():
        assert not function.keys() & {"Runtime", "Architectures", "Environment"}
    more = {name: function["Layers"] for name, function in functions.items() if "Layers" in function}
    assert more == {"McpFunction": [{"Ref": "McpLayer"}]}


def test_every_function_has_its_own_log_group_with_retention(
    template: Template, functions: dict[str, Any]
) -> None:
    groups = template.resources("AWS::Logs::LogGroup")
    named = [function["LoggingConfig"]["LogGroup"]["Ref"] for function in functions.values()]
    assert len(set(named)) == len(named)
    assert {*named, "HttpApiLogs"} == groups.keys()
    assert all(group["RetentionInDays"] == {"Ref": "LogRetentionDays"} for group in groups.values())


def test_functions_behind_http_end_before_the_gateway_gives_up(
    template: Template, functions: dict[str, Any]
) -> None:
    for route in template.routes():
        assert functions[route.function]["Timeout"] < 30
        assert route.authorizer is None or functions[route.authorizer]["Timeout"] <= 10


def test_the_sweep_ends_before_it_fires_again(template: Template, functions: dict[str, Any]) -> None:
    for schedule in template.schedules():
        assert functions[schedule.function]["Timeout"] < schedule.seconds


def test_receives_before_the_dead_letters_are_what_the_functions_are_told(template: Template) -> None:
    told = template.document["Globals"]["Function"]["Environment"]["Variables"]["STRANDLINE_MAX_RECEIVES"]
    queues = template.resources("AWS::SQS::Queue").values()
    assert {str(queue[REDRIVE]["maxReceiveCount"]) for queue in queues if REDRIVE in queue} == {told}


def test_three_queues_are_ordered_and_swallow_nothing(template: Template) -> None:
    """By content the queue would take the same words said twice for one message."""
    queues = template.resources("AWS::SQS::Queue")
    assert {name for name, queue in queues.items() if queue.get("FifoQueue")} == {
        "IngestQueue",
        "IngestDeadLetterQueue",
        "MergeQueue",
        "MergeDeadLetterQueue",
        "LearnQueue",
        "LearnDeadLetterQueue",
    }
    for name in ("IngestQueue", "MergeQueue", "LearnQueue"):
        assert queues[name]["ContentBasedDeduplication"] is False


def test_only_three_routes_are_open(template: Template) -> None:
    assert {route.key for route in template.routes() if route.authorizer is None} == {
        "GET /health",
        "GET /openapi.json",
        "GET /docs",
    }


def test_authorizer_is_asked_every_time(template: Template) -> None:
    """Without an identity source API Gateway has nothing to cache an answer under."""
    authorizer = only(template, "AWS::Serverless::HttpApi")["Auth"]["Authorizers"]["KeyAuthorizer"]
    assert "Identity" not in authorizer
    assert (authorizer["AuthorizerPayloadFormatVersion"], authorizer["EnableSimpleResponses"]) == (
        "2.0",
        True,
    )


def test_two_stacks_fit_in_one_account(template: Template) -> None:
    """Nothing has a fixed name."""
    names = {
        "BucketName",
        "TableName",
        "QueueName",
        "FunctionName",
        "LogGroupName",
        "AlarmName",
        "TopicName",
        "LayerName",
    }
    given = [each.get("Properties", {}) for each in template.document["Resources"].values()]
    assert not any(isinstance(properties.get(name), str) for properties in given for name in names)
    events = [event for each in given for event in each.get("Events", {}).values()]
    assert all(event["Properties"]["OmitName"] for event in events if event["Type"] == "ScheduleV2")


def test_root_key_is_kept_out_of_sight(template: Template) -> None:
    declared = template.document["Parameters"]["RootKeySha256"]
    assert (declared["NoEcho"], declared["Default"]) == (True, "")


def test_authorizer_only_reads_one_item(functions: dict[str, Any]) -> None:
    assert actions(functions["AuthorizerFunction"]) == {"dynamodb:GetItem"}


def test_only_merge_learn_api_mcp_sweep_and_a_scrub_write_memories(functions: dict[str, Any]) -> None:
    """Whoever may write outside of sessions, indexes, journals, rebuilds and kept answers is listed here."""
    elsewhere = {
        name
        for name, function in functions.items()
        for statement in statements(function)
        if "s3:PutObject" in statement["Action"]
        and any(
            not re.search(r"/(sessions|index|journal|replays|rebuilds)/", str(each))
            for each in listed(statement["Resource"])
        )
    }
    assert elsewhere == {
        "MergeFunction",
        "LearnFunction",
        "ApiFunction",
        "McpFunction",
        "SweepFunction",
        "EraseFunction",
    }


def test_whoever_gets_objects_may_list_the_bucket(functions: dict[str, Any]) -> None:
    """Otherwise S3 answers 403 where the code expects 404."""
    for function in functions.values():
        assert ("s3:GetObject" in actions(function)) == ("s3:ListBucket" in actions(function))


def test_only_erase_removes_a_version(functions: dict[str, Any]) -> None:
    """Otherwise history ends by the lifecycle alone."""
    removing = {name for name, function in functions.items() if "s3:DeleteObjectVersion" in actions(function)}
    assert removing == {"EraseFunction"}


def test_no_business_values_in_the_wiring(template: Template) -> None:
    """Variables are references, the receive count, or a habit of a library: nothing that a rule of the domain needs."""
    variables = template.document["Globals"]["Function"]["Environment"]["Variables"]
    literal = {name for name, value in variables.items() if not isinstance(value, dict)}
    assert literal == {"STRANDLINE_MAX_RECEIVES", "PYDANTIC_DISABLE_PLUGINS"}


def test_parameters_say_what_they_are(template: Template) -> None:
    assert all(declared["Description"] for declared in template.document["Parameters"].values())


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_tokens_reach_whatever_keys_reach(template: Template, functions: dict[str, Any]) -> None:
    """Every route that takes a key has its like on the API for JSON web tokens, with the same function behind it."""
    events = [(name, e) for name, each in functions.items() for e in each.get("Events", {}).values()]
    keyed = {
        (f"{event['Properties']['Method']} {event['Properties']['Path']}", name)
        for name, event in events
        if event["Type"] == "HttpApi" and event["Properties"].get("Auth") != {"Authorizer": "NONE"}
    }
    behind = {
        name: integration["IntegrationUri"]["Fn::GetAtt"][0]
        for name, integration in template.resources("AWS::ApiGatewayV2::Integration").items()
    }
    routes = template.resources("AWS::ApiGatewayV2::Route").values()
    assert {(r["RouteKey"], behind[r["Target"]["Fn::Sub"][15:-1]]) for r in routes} == keyed
    assert {r["AuthorizationType"] for r in routes} == {"JWT"}
    allowed = {p["FunctionName"]["Ref"] for p in template.resources("AWS::Lambda::Permission").values()}
    assert allowed == {name for _, name in keyed}
