"""What a configured model allows the functions that ask it besides: what its adapters call, and nothing else."""

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import botocore.session
import pytest

from infra.local.template import Template, resolve
from strandline.entry.settings import from_environment
from strandline.pipeline.services import Rules

ROOT = Path(__file__).parents[2]
AWS = {
    "AWS::Partition": "aws",
    "AWS::Region": "eu-west-1",
    "AWS::AccountId": "123456789012",
    "ExtractFunctionRole": "role",
    "MergeFunctionRole": "role",
    "LearnFunctionRole": "role",
    "ApiFunctionRole": "role",
}
MODEL = "anthropic.some-model-v1:0"
PROFILE = f"eu.{MODEL}"
EMBEDDING = "amazon.titan-embed-text-v2:0"
CONDITIONS = {
    "UsesBedrockEmbedder": lambda p: p["Embedder"] == "bedrock",
    "UsesBedrock": lambda p: p["ModelProvider"] == "bedrock",
    "UsesBedrockProfile": lambda p: p["ModelProvider"] == "bedrock" and p["ModelFoundationId"] != "",
    "HasModelKeyParameter": lambda p: p["ModelKeyParameter"] != "",
    "HasModelKeySecret": lambda p: p["ModelKeySecret"] != "",
}


ASKING = [{"Ref": "ExtractFunctionRole"}, {"Ref": "MergeFunctionRole"}, {"Ref": "LearnFunctionRole"}]
ROLES = {
    **dict.fromkeys(CONDITIONS, ASKING),
    "UsesBedrockEmbedder": [
        {"Ref": "MergeFunctionRole"},
        {"Ref": "LearnFunctionRole"},
        {"Ref": "ApiFunctionRole"},
        {"Ref": "McpFunctionRole"},
    ],
}


def granted(**parameters: str) -> list[tuple[str, str]]:
    """(action, resource) of every policy that a deployment with these parameters has besides."""
    template = Template(ROOT / "template.yaml", parameters)
    names = {**template.parameters, **AWS}
    found = []
    for resource in template.document["Resources"].values():
        if resource["Type"] == "AWS::IAM::Policy" and CONDITIONS[resource["Condition"]](names):
            assert resource["Properties"]["Roles"] == ROLES[resource["Condition"]]
            for statement in resolve(resource["Properties"]["PolicyDocument"]["Statement"], names):
                resources = statement["Resource"]
                each = resources if isinstance(resources, list) else [resources]
                found += [(statement["Action"], one) for one in each]
    return found


def test_without_a_model_nothing_is_granted() -> None:
    assert granted() == []


def test_an_embedder() -> None:
    assert granted(Embedder="bedrock") == [
        ("bedrock:InvokeModel", f"arn:aws:bedrock:eu-west-1::foundation-model/{EMBEDDING}")
    ]
    assert granted(Embedder="local") == []


def test_a_model_of_bedrock() -> None:
    assert granted(ModelProvider="bedrock", ModelId=MODEL) == [
        ("bedrock:InvokeModel", f"arn:aws:bedrock:eu-west-1::foundation-model/{MODEL}"),
        ("bedrock:InvokeModel", f"arn:aws:bedrock:eu-west-1:123456789012:inference-profile/{MODEL}"),
    ]


def test_an_inference_profile_and_the_model_behind_it_in_any_of_its_regions() -> None:
    found = granted(ModelProvider="bedrock", ModelId=PROFILE, ModelFoundationId=MODEL)
    assert {action for action, _ in found} == {"bedrock:InvokeModel"}
    wanted = (
        f"arn:aws:bedrock:eu-west-1:123456789012:inference-profile/{PROFILE}",
        f"arn:aws:bedrock:eu-central-1::foundation-model/{MODEL}",
    )
    unwanted = (
        f"arn:aws:bedrock:eu-west-1::foundation-model/{MODEL}-other",
        "arn:aws:bedrock:eu-west-1::foundation-model/meta.llama",
        f"arn:aws:bedrock:eu-west-1:999999999999:inference-profile/{PROFILE}",
    )
    allowed = [r for r in (*wanted, *unwanted) if any(fnmatchcase(r, pattern) for _, pattern in found)]
    assert allowed == list(wanted)


def test_the_model_behind_a_profile_only_through_the_profile(template: Template) -> None:
    policy = template.document["Resources"]["InvokeModelProfilePolicy"]["Properties"]["PolicyDocument"]
    (statement,) = resolve(policy["Statement"], {**AWS, "ModelId": PROFILE, "ModelFoundationId": MODEL})
    profile = f"arn:aws:bedrock:eu-west-1:123456789012:inference-profile/{PROFILE}"
    assert statement["Condition"] == {"StringEquals": {"bedrock:InferenceProfileArn": profile}}


def test_a_key_by_its_name() -> None:
    endpoint = {"ModelProvider": "openai", "ModelId": "m", "ModelBaseUrl": "https://models.example/v1"}
    assert granted(**endpoint) == []
    assert granted(**endpoint, ModelKeyParameter="/strandline/key") == [
        ("ssm:GetParameter", "arn:aws:ssm:eu-west-1:123456789012:parameter/strandline/key")
    ]
    assert granted(**endpoint, ModelKeySecret="model/key") == [
        (
            "secretsmanager:GetSecretValue",
            "arn:aws:secretsmanager:eu-west-1:123456789012:secret:model/key-??????",
        )
    ]


def test_the_conditions_are_these(template: Template) -> None:
    used = {
        each["Condition"]
        for each in template.document["Resources"].values()
        if each["Type"] == "AWS::IAM::Policy"
    }
    assert used == CONDITIONS.keys() <= template.document["Conditions"].keys()


def test_the_actions_are_those_of_the_operations_called() -> None:
    """Converse has no action of its own; the other two have their operations' names."""
    session = botocore.session.Session()
    for service, operation in (
        ("bedrock-runtime", "Converse"),
        ("ssm", "GetParameter"),
        ("secretsmanager", "GetSecretValue"),
    ):
        assert operation in session.get_service_model(service).operation_names


def test_an_extraction_ends_before_its_function(functions: dict[str, Any]) -> None:
    rules = Rules()
    assert rules.part_seconds < rules.extract_seconds < functions["ExtractFunction"]["Timeout"]


def test_a_failed_extraction_comes_again_before_the_sweep_loses_patience(template: Template) -> None:
    """Otherwise the sweep would send it a second time, and a model would be paid twice."""
    visible_after = template.resources("AWS::SQS::Queue")["ExtractQueue"]["VisibilityTimeout"]
    assert visible_after < int(template.parameters["HealSeconds"])


def test_the_template_hands_over_every_setting_of_a_model(template: Template) -> None:
    variables = template.document["Globals"]["Function"]["Environment"]["Variables"]
    given = {name for name in variables if name.startswith("STRANDLINE_MODEL_")}
    values = {name: str(resolve(variables[name], template.parameters)) for name in given}
    made = from_environment({**values, "STRANDLINE_BUCKET": "b", "STRANDLINE_TABLE": "t"})
    assert len(given) == 10
    assert (made.provider, made.model_part_tokens, made.temperature) == ("none", 4_000, 0.0)


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"PROVIDER": "bedrock"}, "STRANDLINE_MODEL_ID is not set"),
        ({"PROVIDER": "bedrock", "ID": "m"}, None),
        ({"PROVIDER": "openai", "ID": "m"}, "BASE_URL is not an http"),
        ({"PROVIDER": "openai", "ID": "m", "BASE_URL": "http://10.0.0.7:11434/v1"}, None),
        (
            {"PROVIDER": "openai", "ID": "m", "BASE_URL": "https://user:word@models.example/v1"},
            "BASE_URL is not",
        ),
        (
            {"PROVIDER": "openai", "ID": "m", "BASE_URL": "http://10.0.0.7/v1", "KEY_SECRET": "k"},
            "https only",
        ),
        (
            {"PROVIDER": "openai", "ID": "m", "BASE_URL": "http://localhost.evil.example", "KEY_SECRET": "k"},
            "https only",
        ),
        ({"PROVIDER": "openai", "ID": "m", "BASE_URL": "http://127.0.0.1:8000", "KEY_SECRET": "k"}, None),
        (
            {
                "PROVIDER": "openai",
                "ID": "m",
                "BASE_URL": "https://h/v1",
                "KEY_SECRET": "k",
                "KEY_PARAMETER": "/k",
            },
            "both set",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_named(settings: dict[str, str], wrong: str | None) -> None:
    variables = {f"STRANDLINE_MODEL_{name}": value for name, value in settings.items()}
    found = from_environment({**variables, "STRANDLINE_BUCKET": "b", "STRANDLINE_TABLE": "t"}).wrong
    assert found is None if wrong is None else wrong in str(found)
