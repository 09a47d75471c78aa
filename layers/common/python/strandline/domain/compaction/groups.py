"""Which messages belong together: a call, and everything that answers it."""

from collections.abc import Iterable


def groups(messages: int, links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Indexes of so many messages, those that links connect in one group; by their first, in order."""
    leader = list(range(messages))

    def find(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    for one, other in links:
        first, second = sorted((find(one), find(other)))
        leader[second] = first
    together: dict[int, list[int]] = {}
    for index in range(messages):
        together.setdefault(find(index), []).append(index)
    return list(together.values())
