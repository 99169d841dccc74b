"""What a trace says of the built-in taints of a node that evict nobody.

People meet them on a node in trouble, and ask whether its pods went for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.decision import TraceStep
from bailiff.decisions.node_taints.built_in import built_in_taint
from bailiff.decisions.node_taints.findings import NodeTaintSubject
from bailiff.decisions.text import describe_taint
from bailiff.kinds import NO_EXECUTE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.kinds import Taint


def steps_of_others(taints: Iterable[Taint]) -> tuple[TraceStep, ...]:
    """A step for each, the same for all pods of a node; none for taints that are no built-ins."""
    return tuple(
        TraceStep(
            rule="BuiltInTaint",
            outcome="EvictsNobody",
            message=f"taint {describe_taint(taint)} evicts no pod, only {NO_EXECUTE} does",
            subject=NodeTaintSubject(taint=taint, taint_index=index, built_in=built_in),
        )
        for index, taint in enumerate(taints)
        if taint.effect != NO_EXECUTE and (built_in := built_in_taint(taint)) is not None
    )
