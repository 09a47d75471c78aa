"""Made-up talk that gives the extractor something to do: the same seed says the same."""

import random
from collections.abc import Iterator

from strandline.domain.message import MessageIn

_SAYINGS = (
    "I moved to {city} last month and started to work as a {job}.",
    "My sister {name} is visiting {city} next weekend, we want to see the old harbour.",
    "I love {thing}, I have been doing it since 2019.",
    "Yesterday I met {name} at the market in {city} and we talked about {thing}.",
    "I prefer {thing} over television, it calms me down after a long day.",
    "{name} got a new dog, they called it Biscuit.",
    "That sounds wonderful! How did it go?",
    "We are planning a trip to {city} in June with {name}.",
)
_WORDS = {
    "city": ("Lisbon", "Oslo", "Kyoto", "Porto", "Graz"),
    "job": ("nurse", "carpenter", "teacher", "baker"),
    "name": ("Mona", "Hugo", "Ines", "Tariq", "Wei"),
    "thing": ("sailing", "pottery", "chess", "hiking", "painting"),
}


def said(rng: random.Random) -> str:
    """One sentence or two."""
    words = {kind: rng.choice(choices) for kind, choices in _WORDS.items()}
    return " ".join(saying.format(**words) for saying in rng.sample(_SAYINGS, rng.choice((1, 2))))


def messages(seed: int, count: int) -> list[MessageIn]:
    """Two speakers, taking turns."""
    rng = random.Random(seed)
    speakers = ("Ann", "Ben")
    return [MessageIn(role="user", peer_id=speakers[n % 2], content=said(rng)) for n in range(count)]


def batches(seed: int, count: int, size: int = 100) -> Iterator[list[MessageIn]]:
    """The same in batches."""
    for first in range(0, count, size):
        yield messages(seed + first, min(size, count - first))
