"""Plots as inline SVG: nothing is loaded from anywhere, no script runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 560, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 12, 32


@dataclass(frozen=True)
class Dot:
    """A value from 0 to 1, how far it may be off, and what it is of; filled where it was promoted."""

    label: str
    value: float
    deviation: float = 0.0
    filled: bool = True


def line_plot(title: str, dots: Sequence[Dot]) -> str:
    """Values in order, each with its deviation, joined by a line."""
    places = [(_x(n, len(dots)), _y(dot.value)) for n, dot in enumerate(dots)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts = [*_grid(), f'<polyline points="{path}" fill="none" stroke="#2a6f97" stroke-width="2"/>']
    for (x, y), dot in zip(places, dots, strict=True):
        parts += _dot(x, y, dot)
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    said = escape(title)
    return f'<svg {size} role="img" aria-label="{said}"><title>{said}</title>{"".join(parts)}</svg>'


def bar(value: float) -> str:
    """A share from 0 to 1 as a small bar."""
    width = 80 * min(1.0, max(0.0, value))
    back = '<rect width="80" height="10" fill="#e5e5e5"/>'
    return f'<svg width="80" height="10" role="img">{back}<rect width="{width:.1f}" height="10" fill="#2a6f97"/></svg>'


def _grid() -> Iterator[str]:
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _y(value)
        yield f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" font-size="11">{value:.2f}</text>'


def _dot(x: float, y: float, dot: Dot) -> Iterator[str]:
    low, high = _y(max(0.0, dot.value - dot.deviation)), _y(min(1.0, dot.value + dot.deviation))
    if dot.deviation:
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="#2a6f97"/>'
    fill = "#2a6f97" if dot.filled else "#fff"
    told = f"<title>{escape(dot.label)}: {dot.value:.3f} ± {dot.deviation:.3f}</title>"
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{fill}" stroke="#2a6f97" stroke-width="2">{told}</circle>'
    yield f'<text x="{x:.1f}" y="{_HEIGHT - 10}" text-anchor="middle" font-size="11">{escape(dot.label)}</text>'


def _x(number: int, count: int) -> float:
    room = _WIDTH - _LEFT - _RIGHT - 40
    return _LEFT + 20 + (room * number / (count - 1) if count > 1 else room / 2)


def _y(value: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value)
