"""When taints without timeAdded were first seen, as this worker remembers and notes it.

The memory follows every event of a node, and not the evaluations, which look only at the latest
state: a taint that is taken away and put back in between has a new time. It counts before the
node's annotation, so that a note that nobody could clear does no harm while this worker lives.
Where the worker has not been watching, before its start and across a new list of the nodes, it
believes what the node itself can vouch for; see `decisions/node_taints/observations.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.instants import later
from bailiff.decisions.node_taints import observations
from bailiff.decisions.node_taints.observations import Since

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.clock import Clock
    from bailiff.decisions.node_taints.observations import Identity
    from bailiff.kinds import Node


# By how much our clock may be behind the time of an edit. Whatever is dated later than that was
# not dated by an API server.
_MOST_BEHIND = timedelta(days=1)


class WantedNote(NamedTuple):
    """What a node's annotation should read, and does not.

    Attributes:
        node: in the version that this holds for.
        text: the annotation; empty to take it away.
        due: from when it may be written, by the monotonic clock.
    """

    node: Node
    text: str
    due: float


@dataclass(slots=True)
class _Memory:
    """The taints of one node.

    Attributes:
        uid: of the node.
        edited: the last edit of its taints, as far as the node tells.
        edit_seen: when that edit was first seen, by the monotonic clock.
        since: since when they count; of the present ones only.
    """

    uid: str
    edited: datetime | None
    edit_seen: float
    since: dict[Identity, Since]

    def is_of(self, node: Node) -> bool:
        """Whether nothing has become of the node's taints since, as far as it tells."""
        return (
            self.uid == node.metadata.uid
            and self.edited == node.taints_edited
            and self.since.keys() == observations.untimed(node).keys()
        )


class FirstSeen:
    """Of all nodes that have such taints. Not thread-safe: one event loop owns it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._nodes: dict[str, _Memory] = {}

    def nodes_relisted(self) -> None:
        """See NodeListener. What happened since the last event is not known: nothing is kept."""
        self._nodes = {}

    def node_changed(self, name: str, node: Node | None) -> None:
        """See NodeListener.

        Which taints one has that cannot be read, nobody can tell; once it can be, it vouches for
        itself.
        """
        known = self._nodes.pop(name, None)
        if node is not None:
            same = known is not None and known.uid == node.metadata.uid
            self._take_in(node, known if same else None)

    def since(self, node: Node) -> Mapping[Identity, Since]:
        """Since when the node's taints count.

        What is remembered stands though the wall clock be stepped back behind it.
        """
        memory = self._nodes.get(node.metadata.name)
        if memory is not None and memory.is_of(node):
            return memory.since
        # Another state of the node than the last one that was told of, or none was.
        return observations.since(observations.as_served(node), (), self._clock.latest())

    def wanted_note(self, node: Node) -> WantedNote | None:
        """What is to be written on the node; None for nothing."""
        text = observations.annotation(node, self.since(node))
        if text is None:
            return None
        memory = self._nodes.get(node.metadata.name)
        due = 0.0
        if memory is not None and memory.edited is not None:
            due = memory.edit_seen + observations.EDIT_SECONDS
        return WantedNote(node, text, due)

    def _take_in(self, node: Node, known: _Memory | None) -> None:
        taints = observations.untimed(node)
        if not taints:
            return
        edited = node.taints_edited
        latest = self._clock.latest()
        told = observations.since(observations.as_served(node), (), latest)
        before, edit_seen = {}, self._clock.monotonic()
        if known is not None:
            before = known.since
            edit_seen = known.edit_seen if known.edited == edited else edit_seen
        self._nodes[node.metadata.name] = _Memory(
            uid=node.metadata.uid,
            edited=edited,
            edit_seen=edit_seen,
            since={one: before.get(one) or _begun(told[one], edited, latest) for one in taints},
        )


def _begun(told: Since, edited: datetime | None, latest: datetime) -> Since:
    """From when a taint counts that was not there before.

    The API server has dated its edit. A clock that has not come that far is behind, and would
    have the taint count from before it came.
    """
    noted = told.source == "firstObserved"
    if not noted and edited is not None and latest < edited <= latest + _MOST_BEHIND:
        return Since(later(edited, observations.EDIT_SECONDS), "firstObserved")
    return Since(told.at, "firstObserved")
