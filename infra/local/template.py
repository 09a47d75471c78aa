"""Reads template.yaml: the functions, what triggers them, and the resources they name.

What cannot be resolved is an error, never a guess: a template the local run does not understand must not run wrongly.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ACCOUNT = "000000000000"
REGION = "us-east-1"

Properties = Mapping[str, Any]


class TemplateError(Exception):
    """The template uses something the local run cannot do."""


@dataclass(frozen=True)
class Function:
    """A Lambda function as deployed; `environment` is still unresolved."""

    name: str
    code: Path
    handler: str
    timeout: int
    memory: int
    environment: Properties


@dataclass(frozen=True)
class Route:
    """One route of the HTTP API; `authorizer` is the function that is asked first, if any."""

    method: str
    path: str
    function: str
    authorizer: str | None

    @property
    def key(self) -> str:
        """The route key, as API Gateway writes it."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class QueueTrigger:
    """A queue whose messages a function receives in batches."""

    queue: str
    function: str
    batch_size: int


@dataclass(frozen=True)
class Schedule:
    """A function called every `seconds`."""

    name: str
    function: str
    seconds: int


class _Loader(yaml.SafeLoader):
    """YAML with the short forms of intrinsic functions, `!Sub x` for `{"Fn::Sub": "x"}`."""

    def intrinsic(self, suffix: str, node: yaml.Node) -> dict[str, Any]:
        """One tagged node."""
        if suffix == "Ref":
            return {"Ref": node.value}
        if suffix == "GetAtt":
            return {"Fn::GetAtt": node.value.split(".", 1)}
        if isinstance(node, yaml.SequenceNode):
            return {f"Fn::{suffix}": self.construct_sequence(node, deep=True)}
        return {f"Fn::{suffix}": node.value}


_Loader.add_multi_constructor("!", _Loader.intrinsic)


class Template:
    """template.yaml with its parameters set; `document` is all of it, with intrinsic functions in their long form."""

    def __init__(self, path: Path, parameters: Mapping[str, str]) -> None:
        """Raises TemplateError for a parameter the template does not have."""
        self._root = path.parent
        self.document = yaml.load(path.read_text(), _Loader)
        defaults = {name: declared.get("Default") for name, declared in self.document["Parameters"].items()}
        if unknown := parameters.keys() - defaults.keys():
            raise TemplateError(f"no such parameter: {', '.join(sorted(unknown))}")
        self.parameters = {name: str(value) for name, value in (defaults | dict(parameters)).items()}

    def resources(self, kind: str) -> dict[str, Properties]:
        """Logical id → unresolved properties of every resource of one type, such as `AWS::SQS::Queue`."""
        found = self.document["Resources"].items()
        return {name: each.get("Properties", {}) for name, each in found if each["Type"] == kind}

    def conditions(self) -> dict[str, bool]:
        """Every condition, by the parameters. Raises TemplateError for anything but Equals, Not and And."""
        found = self.document.get("Conditions", {})
        return {name: _holds(each, found, self.parameters) for name, each in found.items()}

    def functions(self) -> dict[str, Function]:
        """Every function, with Globals applied."""
        return {name: self._function(name) for name in self.resources("AWS::Serverless::Function")}

    def layers(self) -> list[Path]:
        """The Python directories of the layers, as the runtime puts them on the path."""
        found = self.resources("AWS::Serverless::LayerVersion").values()
        return [self._root / each["ContentUri"] / "python" for each in found]

    def routes(self) -> list[Route]:
        """Every route of the HTTP API."""
        authorizers, default = self._authorizers()
        return [
            Route(
                event["Method"].upper(),
                event["Path"],
                function,
                authorizers.get(event.get("Auth", {}).get("Authorizer", default)),
            )
            for function, _, event in self._events("HttpApi")
        ]

    def queue_triggers(self) -> list[QueueTrigger]:
        """Every event source mapping of a queue."""
        return [
            QueueTrigger(event["Queue"]["Fn::GetAtt"][0], function, event.get("BatchSize", 10))
            for function, _, event in self._events("SQS")
        ]

    def schedules(self) -> list[Schedule]:
        """Every schedule. Raises TemplateError for anything but a rate."""
        return [
            Schedule(name, function, _seconds(event["ScheduleExpression"]))
            for function, name, event in self._events("ScheduleV2")
        ]

    def _function(self, name: str) -> Function:
        common = self.document["Globals"]["Function"]
        own = self.resources("AWS::Serverless::Function")[name]
        merged = common | own
        variables = [each.get("Environment", {}).get("Variables", {}) for each in (common, own)]
        return Function(
            name,
            self._root / merged["CodeUri"],
            merged["Handler"],
            merged["Timeout"],
            merged["MemorySize"],
            variables[0] | variables[1],
        )

    def _events(self, kind: str) -> Iterator[tuple[str, str, Properties]]:
        known = {"HttpApi", "SQS", "ScheduleV2"}
        for function, properties in self.resources("AWS::Serverless::Function").items():
            for name, event in properties.get("Events", {}).items():
                if event["Type"] not in known:
                    raise TemplateError(f"{function}.{name}: no local trigger for {event['Type']}")
                if event["Type"] == kind:
                    yield function, name, event["Properties"]

    def _authorizers(self) -> tuple[dict[str | None, str], str | None]:
        (api,) = self.resources("AWS::Serverless::HttpApi").values()
        auth = api.get("Auth", {})
        functions = {
            name: each["FunctionArn"]["Fn::GetAtt"][0] for name, each in auth.get("Authorizers", {}).items()
        }
        return functions, auth.get("DefaultAuthorizer")


def _holds(condition: Any, known: Mapping[str, Any], parameters: Mapping[str, str]) -> bool:
    match condition:
        case {"Condition": str(name)} | {"Fn::Condition": str(name)}:
            return _holds(known[name], known, parameters)
        case {"Fn::And": list(parts)}:
            return all(_holds(each, known, parameters) for each in parts)
        case {"Fn::Not": [inner]}:
            return not _holds(inner, known, parameters)
        case {"Fn::Equals": [one, other]}:
            return bool(resolve(one, parameters) == resolve(other, parameters))
    raise TemplateError(f"the local run does not understand the condition {condition}")


def resolve(value: Any, names: Mapping[str, str]) -> Any:
    """`value` with every Ref, GetAtt and Sub replaced by what `names` says of `Name` or `Name.Attribute`, every If by
    what it says of `Condition.Name` ("true" or "false").

    Raises TemplateError for a name that is not there and for any other intrinsic function.
    """
    match value:
        case {"Ref": str(name)}:
            return _named(name, names)
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return _named(f"{name}.{attribute}", names)
        case {"Fn::Sub": str(text)}:
            return re.sub(r"\$\{([^}]+)\}", lambda found: _named(found[1], names), text)
        case {"Fn::If": [str(name), yes, no]}:
            return resolve(yes if _named(f"Condition.{name}", names) == "true" else no, names)
        case dict() | list():
            return _inside(value, names)
    return value


def _inside(value: dict[str, Any] | list[Any], names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [resolve(each, names) for each in value]
    if function := next((key for key in value if str(key).startswith("Fn::")), None):
        raise TemplateError(f"the local run does not resolve {function}")
    return {key: resolve(each, names) for key, each in value.items()}


def _named(name: str, names: Mapping[str, str]) -> str:
    if name not in names:
        raise TemplateError(f"the local run does not know {name}")
    return names[name]


def _seconds(expression: str) -> int:
    found = re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", expression)
    if not found:
        raise TemplateError(f"the local run fires rates only, not {expression}")
    return int(found[1]) * {"minute": 60, "hour": 3600, "day": 86400}[found[2]]
