"""Conditions of a node under pressure, in the kubelet's words, and the Events of their changes.

Source: MemoryPressureCondition, PIDPressureCondition and DiskPressureCondition in
pkg/kubelet/nodestatus/setters.go, recordNodeStatusEvent in pkg/kubelet/kubelet_node_status.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.decision import EventNote
from bailiff.decisions.pressure.signals import (
    CONDITIONS,
    DISK_PRESSURE,
    MEMORY_PRESSURE,
    PID_PRESSURE,
)
from bailiff.kinds.node_status import NodeCondition

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


class _Words(NamedTuple):
    reason: str
    message: str
    event: str


# By type: under pressure, and not.
_WORDS = {
    MEMORY_PRESSURE: (
        _Words(
            "KubeletHasInsufficientMemory",
            "kubelet has insufficient memory available",
            "NodeHasInsufficientMemory",
        ),
        _Words(
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available",
            "NodeHasSufficientMemory",
        ),
    ),
    DISK_PRESSURE: (
        _Words("KubeletHasDiskPressure", "kubelet has disk pressure", "NodeHasDiskPressure"),
        _Words("KubeletHasNoDiskPressure", "kubelet has no disk pressure", "NodeHasNoDiskPressure"),
    ),
    PID_PRESSURE: (
        _Words(
            "KubeletHasInsufficientPID",
            "kubelet has insufficient PID available",
            "NodeHasInsufficientPID",
        ),
        _Words(
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available",
            "NodeHasSufficientPID",
        ),
    ),
}


# The reasons of Events that tell of a change.
CONDITION_EVENTS = frozenset(words.event for both in _WORDS.values() for words in both)


def node_conditions(held: Collection[str]) -> tuple[NodeCondition, ...]:
    """All three, those that hold and those that do not."""
    return tuple(_condition(one, holds=one in held) for one in CONDITIONS)


def changes(held: Collection[str], before: Collection[str], node: str) -> Iterable[EventNote]:
    """The Events of the conditions that have changed.

    Args:
        held: those that hold now.
        before: those that held after the last round.
        node: its name.
    """
    for one in CONDITIONS:
        if (one in held) is not (one in before):
            word = _words(one, holds=one in held).event
            yield EventNote(
                type="Normal", reason=word, message=f"Node {node} status is now: {word}"
            )


def _condition(kind: str, *, holds: bool) -> NodeCondition:
    words = _words(kind, holds=holds)
    status = "True" if holds else "False"
    return NodeCondition(type=kind, status=status, reason=words.reason, message=words.message)


def _words(kind: str, *, holds: bool) -> _Words:
    under_pressure, not_so = _WORDS[kind]
    return under_pressure if holds else not_so
