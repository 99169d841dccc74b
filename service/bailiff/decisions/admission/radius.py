"""Whether a change evicts more than the blast radius allows, by the worker's own rule.

The worker holds such evictions back, each until its node acknowledges the cause; here the change
itself is refused until the object that is changed does.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bailiff.decisions.policies.blast import (
    ANNOTATION,
    Blast,
    blast_excess,
    enough_pods,
    unacknowledged,
)
from bailiff.kinds import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bailiff.decisions.changes import Consequences, TooMuchError
    from bailiff.decisions.policies.settings import BlastRadius
    from bailiff.kinds import DeviceTaintRule, ResourceSlice

    Tainting: TypeAlias = "Node | DeviceTaintRule | ResourceSlice"


# Causes that a refusal names for the annotation; more are no single taint's fault.
_MAX_ADVISED = 10


class _Evicted(NamedTuple):
    """What one cause evicts.

    Attributes:
        cause: see there.
        pods: in all.
        by_namespace: of the namespaces in which the change evicts somebody.
    """

    cause: str
    pods: int
    by_namespace: Mapping[str, int]


def namespaces_to_count(
    consequences: Consequences, bounds: BlastRadius, new: Tainting
) -> Mapping[str, int]:
    """The namespaces of which a fraction may be exceeded, with how many of its pods suffice.

    A namespace that has so many or more exceeds nothing, so nobody has to count any further.
    """
    found: dict[str, int] = {}
    for one in _by_cause(consequences, new):
        for namespace, number in one.by_namespace.items():
            found[namespace] = max(enough_pods(number, bounds), found.get(namespace, 0))
    return {namespace: enough for namespace, enough in found.items() if enough}


def refusal(
    consequences: Consequences,
    bounds: BlastRadius,
    namespace_pods: Mapping[str, int],
    new: Tainting,
) -> str | None:
    """Why a change is refused, and what to do about it; None: it is not.

    Args:
        consequences: of the change.
        bounds: see there.
        namespace_pods: pods that have not ended, by namespace, as far as `namespaces_to_count`
            asks; of one that is not in here no fraction is exceeded.
        new: the object as it is to be, with its annotations.
    """
    for one in _by_cause(consequences, new):
        why = _excess(one, bounds, namespace_pods)
        unseen = ", ".join((*consequences.too_many, *consequences.uncounted))
        if why is None and unseen:
            why = f"{one.cause} evicts {one.pods} pods or more, not looked at: {unseen}"
        if why is not None:
            return f"blastRadius: {why}; {_advice(new, (one.cause,))}"
    return None


def refusal_untold(error: TooMuchError, new: Tainting) -> str | None:
    """Why a change is refused of which it is not known what it evicts; None: it is not.

    Args:
        error: why nobody knows.
        new: as of `refusal`.
    """
    causes = unacknowledged(new, error.causes)
    if not causes:
        return None
    why = f"blastRadius: {told_too_much(error)}; make it in smaller steps"
    return why if len(causes) > _MAX_ADVISED else f"{why}; {_advice(new, causes)}"


def told_too_much(error: TooMuchError) -> str:
    """The same in words, for whoever makes the change."""
    return f"what the change evicts takes too long to tell: {error.reason}"


def _by_cause(consequences: Consequences, new: Tainting) -> Iterator[_Evicted]:
    """Each cause that evicts somebody by the change, as far as that is known and may be refused."""
    for cause in unacknowledged(new, consequences.causes):
        brought = Counter(
            one.pod.metadata.namespace for one in consequences.pods if one.after.cause == cause
        )
        if not brought and not consequences.too_many:
            continue
        there = consequences.elsewhere
        pods = brought.total() + sum(n for (other, _), n in there.items() if other == cause)
        by_namespace = {one: number + there.get((cause, one), 0) for one, number in brought.items()}
        yield _Evicted(cause, pods, by_namespace)


def _excess(
    evicted: _Evicted, bounds: BlastRadius, namespace_pods: Mapping[str, int]
) -> str | None:
    for namespace, number in sorted(evicted.by_namespace.items()):
        blast = Blast(
            cause=evicted.cause,
            pods=evicted.pods,
            namespace_evicted=number,
            namespace_pods=namespace_pods.get(namespace, 0),
        )
        why = blast_excess(blast, bounds, namespace)
        if why is not None:
            return why
    return None


def _advice(new: Tainting, causes: Iterable[str]) -> str:
    listed = new.metadata.annotations.acknowledged_taints.strip(" ,")
    value = ",".join((*((listed,) if listed else ()), *causes))
    name = f"{type(new).__name__} {new.metadata.name}"
    if not isinstance(new, Node):
        # The worker looks at the nodes that the pods run on, whatever evicts them.
        name += ", in this same write, and the nodes of its pods"
    return f"where that is meant, annotate {name} first: {ANNOTATION}='{value}'"
