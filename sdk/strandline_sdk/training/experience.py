"""An experience as markdown: Situation, Approach of at most eight points, Reflect. Other sections stay as they are."""

import re
from dataclasses import dataclass

from strandline_sdk.rollouts.policies import unmarked
from strandline_sdk.training.values import Point

MOST_POINTS = 8
_SECTION = re.compile(r"^##[ \t]+(.+?)[ \t]*$", re.MULTILINE)
_ITEM = re.compile(r"^[-*][ \t]+(.+)$", re.MULTILINE)
SLOT_CHARS = 60
_SLOT = re.compile(rf"([^:\n]{{1,{SLOT_CHARS}}}):[ \t]+(.+)")


@dataclass(frozen=True)
class Experience:
    """What to do when; `rest` are the sections that are none of the three."""

    title: str
    situation: str
    approach: tuple[Point, ...] = ()
    reflect: tuple[str, ...] = ()
    rest: str = ""

    def render(self) -> str:
        """The markdown. `parse` gives back the same."""
        points = "\n".join(f"- {_said(point)}" for point in self.approach)
        learnt = "\n".join(f"- {line}" for line in self.reflect)
        parts = [f"# {self.title}", f"## Situation\n\n{self.situation}", f"## Approach\n\n{points}"]
        return (
            "\n\n".join([*parts, f"## Reflect\n\n{learnt}", *([self.rest] if self.rest else [])]).strip()
            + "\n"
        )


def parse(name: str, text: str) -> Experience:
    """The experience in a text, without the comments that say where its lines are from."""
    plain = unmarked(text)
    cuts = [*_SECTION.finditer(plain)]
    head = plain[: cuts[0].start()] if cuts else plain
    ends = [cut.start() for cut in cuts[1:]] + [len(plain)]
    bodies = {cut[1].lower(): plain[cut.end() : end].strip() for cut, end in zip(cuts, ends, strict=True)}
    others = [(cut, end) for cut, end in zip(cuts, ends, strict=True) if cut[1].lower() not in _KNOWN]
    title = head.strip().removeprefix("# ").split("\n")[0] or name
    return Experience(
        title,
        bodies.get("situation", "" if cuts else head.strip()),
        tuple(map(point, _ITEM.findall(bodies.get("approach", "")))),
        tuple(_ITEM.findall(bodies.get("reflect", ""))),
        "\n\n".join(plain[cut.start() : end].strip() for cut, end in others),
    )


_KNOWN = ("situation", "approach", "reflect")


def point(line: str) -> Point:
    """A point as it is written: `slot: text`, or text."""
    found = _SLOT.fullmatch(line.strip())
    return Point(found[1].strip(), found[2].strip()) if found else Point("", line.strip())


def _said(point: Point) -> str:
    return f"{point.slot}: {point.text}" if point.slot else point.text
