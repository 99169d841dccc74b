"""Notes on nodes when their untimed taints were first seen, beside everything else.

Timers do not wait for a note, and no note that is missing or outdated makes an eviction early. A
note is guarded by the node's resourceVersion. A node is tried until its annotation reads as
wanted: what is wanted is asked for anew before each try, so that a try is of the node's latest
version, and there is none of what nobody wants any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog

from bailiff.cluster import NODES, ClusterError, ConflictError, FencedError
from bailiff.kinds import Annotations
from bailiff.worker.timers.retrying import Again, Retrying

if TYPE_CHECKING:
    from prometheus_client import Counter

    from bailiff.actions.ports import ObjectActions
    from bailiff.kinds import Node
    from bailiff.worker.systems.node_taints.first_seen import FirstSeen, WantedNote
    from bailiff.worker.systems.system import Parts

# Who writes the annotation, by managedFields. A name of its own: what a manager writes moves the
# time of all that it owns, and a manager that taints nodes would seem to have edited the taints.
NOTE_MANAGER = "bailiff-taints-first-observed"
ANNOTATION = Annotations.__struct_encode_fields__[0]

_WRITERS = 8
# Seconds until the second try, doubled with each further one, up to the last number. After a
# conflict the watch brings the newer version at once.
_CONFLICT_DELAY = 0.1
_FAILURE_DELAY = 1.0
_MAX_DELAY = 60.0

log = structlog.get_logger(__name__)


class Annotator(Retrying[str]):
    """Looks at nodes by name."""

    def __init__(self, parts: Parts, first_seen: FirstSeen, writes: Counter) -> None:
        """Prepare.

        Args:
            parts: of the worker.
            first_seen: tells what is to be written.
            writes: where they are counted, by fate.
        """
        super().__init__(parts.clock, at_a_time=_WRITERS)
        self._parts = parts
        self._first_seen = first_seen
        self._writes = writes
        self._failing: set[str] = set()

    async def attempt(self, key: str, failures: int) -> Again | None:
        """See Retrying. Bounded by the time that the client gives a request."""
        note = self._wanted(key)
        if note is None:
            self._settled(key)
            return None
        wait = note.due - self._parts.clock.monotonic()
        if wait > 0:
            return Again(wait, failed=False)
        return await self._write(note, failures)

    async def forget(self) -> None:
        """See Retrying."""
        await super().forget()
        self._failing.clear()

    def _wanted(self, name: str) -> WantedNote | None:
        parts = self._parts
        node = parts.mirror.node(name)
        writes = parts.settings.persist_observations and parts.election.may_act()
        return self._first_seen.wanted_note(node) if writes and node is not None else None

    async def _write(self, note: WantedNote, failures: int) -> Again | None:
        name = note.node.metadata.name
        try:
            await annotate(self._parts.actions, note.node, note.text)
        except ConflictError:
            self._writes.labels("outdated").inc()
            return Again.doubled(_CONFLICT_DELAY, failures, _MAX_DELAY)
        except FencedError:
            # Whoever leads writes it; if that is us again, all nodes are looked at anew.
            self._writes.labels("fenced").inc()
        except ClusterError as error:
            self._writes.labels("failed").inc()
            self._complain(name, error)
            return Again.doubled(_FAILURE_DELAY, failures, _MAX_DELAY)
        else:
            self._writes.labels("written").inc()
        self._settled(name)
        return None

    def _complain(self, name: str, error: ClusterError) -> None:
        if not self._failing:
            log.warning("nodes not annotated, trying again", node=name, error=str(error))
        self._failing.add(name)

    def _settled(self, name: str) -> None:
        if name in self._failing:
            self._failing.remove(name)
            if not self._failing:
                log.info("nodes annotated again")


async def annotate(actions: ObjectActions, node: Node, first_observed: str) -> None:
    """Write the annotation if this node is still in this version; empty takes it away.

    Raises:
        ClusterError: as `write`.
    """
    # Of a node that was made with nothing in it that can be owned, the API server keeps no
    # managedFields before the first apply (k8s.io/apimachinery, pkg/util/managedfields/internal/
    # skipnonapplied.go). From then on they tell when its taints are edited.
    apply = bool(first_observed) and node.taints_edited is None
    body = _note_body(node, first_observed)
    await actions.write(NODES, body, field_manager=NOTE_MANAGER, apply=apply)


def _note_body(node: Node, first_observed: str) -> dict[str, Any]:
    """With the UID: an apply would create a node that is not there."""
    meta = node.metadata
    guards = {"uid": meta.uid, "resourceVersion": meta.resource_version}
    annotations = {ANNOTATION: first_observed or None}
    metadata = {"name": meta.name, "annotations": annotations, **guards}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
