"""Product code with something taken out of it, for as long as a `with` lasts.

Functions keep their identity and get another code, so it does not matter who has imported them by name, or which
objects exist already.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import strandline

ROOMS = ("storage", "pipeline")
_CALL = "_conditional_call"


def function(place: str) -> FunctionType:
    """What `pipeline.sweep:_bury` or `storage.document:Documents.write` names."""
    module, _, path = place.partition(":")
    found: Any = import_module(module if module.startswith("tests.") else f"strandline.{module}")
    for name in path.split("."):
        found = inspect.getattr_static(found, name)
    for wrapped in ("func", "fget", "__wrapped__"):
        found = getattr(found, wrapped, found)
    assert isinstance(found, FunctionType), place
    return found


@contextmanager
def recoded(changed: FunctionType, code: CodeType) -> Iterator[None]:
    """The function does something else."""
    right = changed.__code__
    changed.__code__ = code
    try:
        yield
    finally:
        changed.__code__ = right


@contextmanager
def edited(place: str, *edits: tuple[str, str]) -> Iterator[None]:
    """The function with each first text replaced by the second. Every first text must be in it exactly once: who
    changes the function changes its mutants with it."""
    changed = function(place)
    source = textwrap.dedent(inspect.getsource(changed))
    for old, new in edits:
        assert source.count(old) == 1, f"{place} does not have {old!r} once any more: change the mutant too"
        source = source.replace(old, new)
    tree = ast.parse(source)
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    ast.increment_lineno(tree, changed.__code__.co_firstlineno - 1)
    names: dict[str, Any] = dict(changed.__globals__)
    exec(compile(tree, changed.__code__.co_filename, "exec"), names)
    with recoded(changed, names[definition.name].__code__):
        yield


@dataclass(frozen=True)
class Mutant:
    """One mistake: `make` has the product make it. `race`: where to look for it first."""

    name: str
    make: Callable[[], AbstractContextManager[None]]
    race: str = ""


def edit(name: str, place: str, *edits: tuple[str, str], race: str = "") -> Mutant:
    return Mutant(name, partial(edited, place, *edits), race)


def edits(name: str, *places: tuple[str, str, str], race: str = "") -> Mutant:
    """More than one function is wrong: (place, what is there, what is there instead)."""

    @contextmanager
    def make() -> Iterator[None]:
        with ExitStack() as stack:
            for place, old, new in places:
                stack.enter_context(edited(place, (old, new)))
            yield

    return Mutant(name, make, race)


# ---- conditions


class _Calls(ast.NodeTransformer):
    """Each `f(…, when=…)` becomes `_conditional_call(<place>, f, …, when=…)`."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.path: list[str] = []
        self.places: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._within(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._within(node)

    def _within(self, node: ast.ClassDef | ast.FunctionDef) -> ast.AST:
        self.path.append(node.name)
        visited = self.generic_visit(node)
        self.path.pop()
        return visited

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not any(keyword.arg == "when" for keyword in node.keywords):
            return node
        place = f"{self.module}:{'.'.join(self.path)}"
        self.places.append(place)
        number = self.places.count(place)
        named = ast.Constant(place if number == 1 else f"{place}/{number}")
        call = ast.Call(ast.Name(_CALL, ast.Load()), [named, node.func, *node.args], node.keywords)
        return ast.copy_location(call, node)


def _modules() -> Iterator[tuple[str, ModuleType, str]]:
    root = Path(strandline.__file__ or "").parent
    for room in ROOMS:
        for path in sorted((root / room).glob("*.py")):
            name = f"{room}.{path.stem}"
            if "when=" in path.read_text():
                yield name, import_module(f"strandline.{name}"), path.read_text()


@cache
def conditional_functions() -> Mapping[str, tuple[FunctionType, CodeType]]:
    """Every function of `storage` and `pipeline` that passes a condition, and its code with such calls led by way of
    `_conditional_call`."""
    found: dict[str, tuple[FunctionType, CodeType]] = {}
    for name, module, source in _modules():
        calls = _Calls(name)
        tree = ast.fix_missing_locations(calls.visit(ast.parse(source)))
        codes = dict(_codes(compile(tree, module.__file__ or "", "exec")))
        for place in calls.places:
            found[place] = (function(place), codes[place.partition(":")[2]])
    return found


@cache
def conditional_calls() -> tuple[str, ...]:
    """The places of all calls that pass a condition; the second in a function is `<place>/2`."""
    found = []
    for name, _, source in _modules():
        calls = _Calls(name)
        calls.visit(ast.parse(source))
        seen = [calls.places[:n].count(place) for n, place in enumerate(calls.places)]
        found += [f"{p}/{n + 1}" if n else p for p, n in zip(calls.places, seen, strict=True)]
    return tuple(found)


def _codes(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant.co_qualname, constant
            yield from _codes(constant)


Decide = Callable[[str, str], bool]


@contextmanager
def conditions(keep: Decide) -> Iterator[None]:
    """Each conditional call asks `keep`, given its place and what it is about, whether its condition counts."""

    def call(place: str, operation: Callable[..., Any], *args: Any, when: Any, **others: Any) -> Any:
        kept = when is None or keep(place, f"{about(args[0])} {_kind(when)}")
        return operation(*args, when=when if kept else None, **others)

    with ExitStack() as stack:
        for changed, code in conditional_functions().values():
            changed.__globals__[_CALL] = call
            stack.callback(changed.__globals__.pop, _CALL, None)
            stack.enter_context(recoded(changed, code))
        yield


def _kind(when: Any) -> str:
    return "if " + ("it is the same" if isinstance(when, dict) else type(when).__name__)


def about(target: Any) -> str:
    """What kind of thing a write writes: by its key, or by its partition."""
    if isinstance(target, Mapping):
        target = target["pk"]
    if not isinstance(target, str):
        return type(target).__name__
    if not target.startswith("v1/"):
        return str(target.partition("#")[0])
    area, *rest = target.split("/")[3:]
    if area == "sessions":
        below = rest[1:] if rest[1:] == ["head.json"] else rest[2:]
        return below[0] if below[0] != "archives" else f"archives/{below[2].partition('.0')[0]}"
    if area == "journal":
        return "journal head" if rest == ["head.json"] else "journal run"
    return "/".join([area, *rest]) if area == "index" else area
