"""`ports.Items` on a DynamoDB table.

Conditional writes are sent exactly once: repeated by the SDK, a success whose answer was lost would report a failed
condition. Everything else may happen twice and is repeated.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from botocore.config import Config

from strandline.adapters import aws
from strandline.ports import BY_KEY, Below, ConditionFailed, Contended, Item, Order, Page

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_REFUSALS = {"ConditionalCheckFailedException": ConditionFailed, "TransactionConflictException": Contended}


class DynamoItems:
    """One table. `client` makes a client from a configuration, when it is first needed."""

    def __init__(self, table: str, client: Callable[[Config], "DynamoDBClient"] = aws.dynamodb) -> None:
        self._table = table
        self._client = client

    @cached_property
    def _once(self) -> "DynamoDBClient":
        return self._client(aws.ONCE)

    @cached_property
    def _repeating(self) -> "DynamoDBClient":
        return self._client(aws.REPEATING)

    def _writer(self, when: Item | None) -> "DynamoDBClient":
        return self._once if when else self._repeating

    def get(self, pk: str, sk: str) -> Item | None:
        with aws.store_errors():
            answer = self._repeating.get_item(TableName=self._table, Key=_key(pk, sk), ConsistentRead=True)
        return _plain_item(answer["Item"]) if "Item" in answer else None

    def put(self, item: Item, *, when: Item | None = None) -> None:
        with aws.store_errors(_REFUSALS):
            self._writer(when).put_item(
                TableName=self._table, Item=_typed_item(item), **_condition(when or {})
            )

    def update(
        self, pk: str, sk: str, values: Item, *, first: Item | None = None, when: Item | None = None
    ) -> None:
        request = _condition(when or {})
        names, places = (
            request.pop("ExpressionAttributeNames", {}),
            request.pop("ExpressionAttributeValues", {}),
        )
        settings = _settings(values, names, places, first)
        with aws.store_errors(_REFUSALS):
            self._writer(when).update_item(
                TableName=self._table,
                Key=_key(pk, sk),
                UpdateExpression=settings,
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=places,
                **request,
            )

    def add(self, pk: str, sk: str, name: str, number: int, *, values: Item) -> int:
        names, places = {"#n": name}, {":n": _typed(number)}
        settings = _settings(values, names, places)
        with aws.store_errors(_REFUSALS):
            answer = self._once.update_item(
                TableName=self._table,
                Key=_key(pk, sk),
                UpdateExpression=f"ADD #n :n {settings}".rstrip(),
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=places,
                ReturnValues="UPDATED_NEW",
            )
        return int(_plain_item(answer["Attributes"])[name])

    def delete(self, pk: str, sk: str, *, when: Item | None = None) -> None:
        with aws.store_errors(_REFUSALS):
            self._writer(when).delete_item(TableName=self._table, Key=_key(pk, sk), **_condition(when or {}))

    def query(self, pk: str, *, between: tuple[str, str], limit: int, order: Order = BY_KEY) -> Page:
        low, high = between[0] or "\0", between[1]  # DynamoDB refuses an empty key, and an empty range
        if low > high:
            return Page((), None)
        request: dict[str, Any] = {} if order.by == "sk" else {"IndexName": order.by}
        with aws.store_errors():
            answer = self._repeating.query(
                TableName=self._table,
                KeyConditionExpression=f"pk = :pk AND {order.by} BETWEEN :low AND :high",
                ExpressionAttributeValues={":pk": {"S": pk}, ":low": {"S": low}, ":high": {"S": high}},
                ConsistentRead=True,
                Limit=limit,
                ScanIndexForward=not order.newest_first,
                **request,
            )
        last: Any = answer.get("LastEvaluatedKey")
        return Page([_plain_item(item) for item in answer["Items"]], last[order.by]["S"] if last else None)


def _settings(values: Item, names: dict[str, Any], places: dict[str, Any], first: Item | None = None) -> str:
    """The part of an update that sets these attributes, and those of `first` where there are none; their names and
    values join the request's."""
    absent = {name: value for name, value in (first or {}).items() if name not in values}
    for n, (name, value) in enumerate([*values.items(), *absent.items()]):
        names[f"#v{n}"], places[f":v{n}"] = name, _typed(value)
    terms = [f"#v{n} = :v{n}" for n in range(len(values))]
    terms += [f"#v{n} = if_not_exists(#v{n}, :v{n})" for n in range(len(values), len(values) + len(absent))]
    return f"SET {', '.join(terms)}" if terms else ""


def _condition(when: Item) -> dict[str, Any]:
    """The request's condition: every named attribute is as given; None is both the absent and the null one."""
    terms: list[str] = []
    names: dict[str, str] = {}
    places: dict[str, Any] = {}
    for n, (name, value) in enumerate(when.items()):
        below = isinstance(value, Below)
        holds = f"#c{n} {'<' if below else '='} :c{n}"
        terms.append(f"(attribute_not_exists(#c{n}) OR {holds})" if below or value is None else holds)
        names[f"#c{n}"], places[f":c{n}"] = name, _typed(value.number if below else value)
    return _without_empty(
        ConditionExpression=" AND ".join(terms),
        ExpressionAttributeNames=names,
        ExpressionAttributeValues=places,
    )


def _without_empty(**request: Any) -> dict[str, Any]:
    return {name: value for name, value in request.items() if value}


def _key(pk: str, sk: str) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def _typed_item(item: Item) -> dict[str, Any]:
    return {name: _typed(value) for name, value in item.items()}


def _plain_item(item: Any) -> Item:
    return {name: _plain(value) for name, value in item.items()}


def _typed(value: Any) -> dict[str, Any]:
    """DynamoDB's typed form. Raises TypeError for what `ports.Items` does not hold, floats among them."""
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case int():
            return {"N": str(value)}
        case list() | tuple():
            return {"L": [_typed(entry) for entry in value]}
        case dict():
            return {"M": _typed_item(value)}
    raise TypeError(f"an item holds str, int, bool, None, list and dict, not {type(value).__name__}")


def _plain(typed: dict[str, Any]) -> Any:
    ((kind, value),) = typed.items()
    match kind:
        case "NULL":
            return None
        case "N":
            return int(value)
        case "L":
            return [_plain(entry) for entry in value]
        case "M":
            return _plain_item(value)
    return value
