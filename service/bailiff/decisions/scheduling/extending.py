"""Verdicts in the terms of kube-scheduler's extenders: failed nodes, points, and nodes to drop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.text import describe_taint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bailiff.decisions.scheduling.verdicts import NodesVerdict, Objection

# What an extender may give a node at most (k8s.io/kube-scheduler/extender/v1, MaxExtenderPriority).
MAX_POINTS = 10


def failed(verdicts: Iterable[NodesVerdict]) -> Mapping[str, str]:
    """The nodes where the pod may not be put, and why: the first objection.

    No preemption helps there, as kube-scheduler's own plugins say of the same nodes
    (UnschedulableAndUnresolvable).
    """
    return {
        name: _describe(verdict.objections[0])
        for verdict in verdicts
        if not verdict.feasible
        for name in verdict.nodes
    }


def points(verdicts: Sequence[NodesVerdict]) -> Mapping[str, int]:
    """How much each node is liked, from 0 to MAX_POINTS, by its place in the order of preference.

    The first verdict has all points and the last one that is feasible none, those between them
    evenly less; where there is one they are all. Nodes that are not feasible have none.

    Args:
        verdicts: the preferred first.
    """
    last = sum(one.feasible for one in verdicts) - 1
    found = {}
    for place, verdict in enumerate(verdicts):
        given = MAX_POINTS * (last - place) // last if last > 0 else MAX_POINTS
        found.update(dict.fromkeys(verdict.nodes, given if verdict.feasible else 0))
    return found


def closed(verdicts: Iterable[NodesVerdict], now: datetime) -> frozenset[str]:
    """The nodes where the pod could not stay, whoever else went: not feasible, or to leave now.

    Args:
        verdicts: see there.
        now: the instant that they were judged at.
    """
    return frozenset(
        name
        for verdict in verdicts
        if not verdict.feasible or verdict.residency.end <= now
        for name in verdict.nodes
    )


def _describe(objection: Objection) -> str:
    if objection.taint is None:
        return objection.message
    return f"{objection.message}: {describe_taint(objection.taint)}"
