"""What kube-scheduler asks its extenders, to try; the answers are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bailiff.decisions.scheduling import NodePool
from bailiff.kinds import Node
from bailiff.kinds.extender import ExtenderArgs, ExtenderPreemptionArgs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from bailiff.decisions import Systems

_POD = {
    "metadata": {
        "name": "web",
        "namespace": "default",
        "uid": "9b6d9a4e-6c1c-4f5e-8a53-0d3e7f0f5b11",
    },
    "spec": {
        "containers": [{"name": "web", "image": "registry.example/web:1"}],
        "tolerations": [
            {"key": "spot", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 600}
        ],
    },
}
_NODES: tuple[dict[str, Any], ...] = (
    {"metadata": {"name": "node-1"}},
    {
        "metadata": {"name": "node-2"},
        "spec": {"taints": [{"key": "spot", "effect": "NoExecute"}]},
    },
    {
        "metadata": {"name": "node-3"},
        "spec": {"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]},
    },
)
_NAMES = [node["metadata"]["name"] for node in _NODES]
_WHOLE = {"Pod": _POD, "Nodes": {"metadata": {}, "items": [*_NODES]}, "NodeNames": None}
_NAMED = {"Pod": _POD, "Nodes": None, "NodeNames": _NAMES}
_VICTIMS = {"Pods": [{"UID": "u-2"}], "NumPDBViolations": 0}
_PREEMPTION = {
    "Pod": _POD,
    "NodeNameToVictims": None,
    "NodeNameToMetaVictims": {"node-1": _VICTIMS, "node-3": _VICTIMS},
}
_OF_NODES: Mapping[str, dict[str, Any]] = {"nodes": _WHOLE, "names": _NAMED}
_BODIES: Mapping[str, Mapping[str, dict[str, Any]]] = {
    "filter": _OF_NODES,
    "prioritize": _OF_NODES,
    "preempt": {"names": _PREEMPTION},
}
_SUMMARIES = {"nodes": "Whole nodes", "names": "Names of nodes (nodeCacheCapable)"}
_TYPES: Mapping[str, type] = {"preempt": ExtenderPreemptionArgs}


class ExampleNodes:
    """The nodes of the examples, in place of a cluster's."""

    def __init__(self, systems: Systems) -> None:
        """Read them."""
        self._pool = NodePool(systems.all, msgspec.convert(_NODES, tuple[Node, ...]))

    async def pool(self, names: Sequence[str] = ()) -> NodePool:  # noqa: ARG002 - as of NodePools
        """All of them."""
        return self._pool


def bodies_of(verb: str) -> dict[str, Any]:
    """The examples of a verb, as OpenAPI shows them."""
    return {
        name: {"summary": _SUMMARIES[name], "value": body} for name, body in _BODIES[verb].items()
    }


def answers_to(verb: str, answer: Callable[[Any, bytes], Awaitable[Any]]) -> dict[str, Any]:
    """Their answers likewise, given by the same code as any other answer.

    Args:
        verb: its name.
        answer: of an Extender that finds `ExampleNodes`.
    """
    kind = _TYPES.get(verb, ExtenderArgs)
    return {
        name: {"summary": _SUMMARIES[name], "value": _answer(answer, kind, body)}
        for name, body in _BODIES[verb].items()
    }


def _answer(answer: Callable[[Any, bytes], Awaitable[Any]], kind: type, body: object) -> object:
    written = msgspec.json.encode(body)
    # None of them waits for anything.
    asked = answer(msgspec.json.decode(written, type=kind), written).__await__()
    try:
        next(asked)
    except StopIteration as done:
        return msgspec.json.decode(done.value)
    raise RuntimeError("an example waits for something")
