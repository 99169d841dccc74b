"""Every series that a process of Bailiff tells, with its labels, as in the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.bootstrap.metrics import new_registry
from handbook.metrics import PROCESSES, Family, families, in_registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What the operator, or whoever scrapes, puts to each.
OF_THE_TARGET = {"namespace", "job", "pod", "instance"}
_ENDS = {"histogram": ("_bucket", "_sum", "_count")}


def series_of(process: str) -> dict[str, set[str]]:
    """The labels of each series that the reference has under a process, by its name."""
    return _by_name(families(process))


def known() -> dict[str, set[str]]:
    """The labels of each series, by its name."""
    every = [one for process in PROCESSES for one in families(process)]
    return _by_name([*every, *in_registry(new_registry())])


def _by_name(told: Iterable[Family]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for one in told:
        for name, labels in _series(one):
            found.setdefault(name, set()).update(labels)
    return found


def _series(one: Family) -> Iterator[tuple[str, set[str]]]:
    for end in _ENDS.get(one.kind, ("",)):
        yield one.name + end, {*one.labels, *({"le"} if end == "_bucket" else ())}
