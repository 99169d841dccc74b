"""What is written on a lost node: the note that a restart goes by, and the taint out-of-service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.cluster import NODES
from bailiff.decisions.node_loss.needs import OUT_OF_SERVICE, OWN_VALUE
from bailiff.decisions.text import describe_time
from bailiff.kinds import Annotations

if TYPE_CHECKING:
    from datetime import datetime

    from prometheus_client import Counter

    from bailiff.decisions.node_loss.memory import NodeLossMemory
    from bailiff.kinds import Node
    from bailiff.worker.systems.system import Parts

ANNOTATION = next(
    each for each in Annotations.__struct_encode_fields__ if each.endswith("node-loss")
)
# Who writes, by managedFields. The taint has a manager of its own: what a manager writes moves the
# time of all that it owns, and one that taints nodes would seem to have edited the taints.
NOTE_MANAGER, TAINT_MANAGER = "bailiff-node-loss", "bailiff-out-of-service"
# Which evicts nobody by itself, so that pods of DaemonSets stay; the key alone lets volumes be
# detached and pods be forced off (KEP-2268).
_EFFECT = "NoSchedule"


class NodeNotes:
    """Writes once, and raises where that fails: whoever asks tries again."""

    def __init__(self, parts: Parts, writes: Counter) -> None:
        """Prepare; `writes` counts, by what and fate."""
        self._parts = parts
        self._writes = writes
        # The API server has checked it, and keeps nothing: a dry run, or a shadow's.
        self._written = "onPaper" if parts.settings.on_paper else "written"

    async def write(self, node: Node, wanted: NodeLossMemory | None, version: str) -> None:
        """Have the annotation say this; None: nothing.

        Args:
            node: which, by its UID.
            wanted: what it is to say.
            version: of the node, as a guard; empty: any.

        Raises:
            ClusterError: as `write` of the actions.
        """
        metadata: dict[str, Any] = {
            "name": node.metadata.name,
            "uid": node.metadata.uid,
            "annotations": {ANNOTATION: None if wanted is None else wanted.text()},
        }
        if version:
            metadata["resourceVersion"] = version
        await self._parts.actions.write(NODES, {"metadata": metadata}, field_manager=NOTE_MANAGER)
        self._writes.labels("note", self._written).inc()

    async def taint(self, node: Node, *, tainted: bool) -> None:
        """Have our taint there, or not; a merge patch knows no less than the list of all.

        Raises:
            ClusterError: as `write` of the actions; ConflictError where the node has changed.
        """
        kept = [
            one for one in node.spec.taints if (one.key, one.value) != (OUT_OF_SERVICE, OWN_VALUE)
        ]
        body = [_taint_body(one.key, one.value, one.effect, one.time_added) for one in kept]
        if tainted:
            now = self._parts.clock.now().replace(microsecond=0)
            body.append(_taint_body(OUT_OF_SERVICE, OWN_VALUE, _EFFECT, now))
        meta = node.metadata
        guards = {"uid": meta.uid, "resourceVersion": meta.resource_version}
        await self._parts.actions.write(
            NODES,
            {"metadata": {"name": meta.name, **guards}, "spec": {"taints": body}},
            field_manager=TAINT_MANAGER,
        )
        self._writes.labels("taint", self._written).inc()


def _taint_body(key: str, value: str, effect: str, added: datetime | None) -> dict[str, Any]:
    body: dict[str, Any] = {"key": key, "effect": effect}
    if value:
        body["value"] = value
    if added is not None:
        body["timeAdded"] = describe_time(added)
    return body
