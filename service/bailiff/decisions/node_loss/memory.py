"""What a node's annotation remembers of its loss, so that a restart does not start its time over.

It is believed only as far as the node has not lived since: a node that came back and was lost once
more while nobody looked starts anew. Who reads it goes by its own wall clock, which is put right by
the API server's; a note of the future counts for nothing, and so makes nobody go early.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from bailiff.decisions.node_loss.settings import DEFAULTS, Seconds
from bailiff.decisions.node_loss.standing import NodeState, ready_condition
from bailiff.kinds.meta import Time

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.kinds import Node
    from bailiff.kinds.lease import Lease

# Ours has a few hundred characters; whoever may write to a node could put in more.
_LONGEST = 1024
# Seconds by which the start of a loss may differ for a restart to make nothing of it.
_SAME = 3.0


class NodeLossMemory(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The annotation's JSON; what a later release has added to it is passed over.

    Attributes:
        uid: of the node.
        since: when it was lost, by the clock of the API server; absent: its zone was down when this
            was written, so that its time had not begun.
        state: that it was in when this was written.
        silent: it had given no sign of life for so long that it was known not to live.
        renewed: of its Lease then, by the node's own clock; absent: it had none.
        transition: of its Ready condition then.
        released: when its turn came, by the pace of its zone; absent: it has not.
        fenced: who said that its machine is off; empty: nobody.
        distrust: why the fence is not believed until the node is back; empty: it is.
        after: seconds that the worker gives a lost node before its pods go.
    """

    uid: str
    since: Time | None = None
    state: str = ""
    silent: bool = False
    renewed: Time | None = None
    transition: Time | None = None
    released: Time | None = None
    fenced: str = ""
    distrust: str = ""
    after: Seconds = DEFAULTS.after

    def text(self) -> str:
        """As the annotation has it."""
        return msgspec.json.encode(self).decode()

    def says_the_same(self, other: NodeLossMemory) -> bool:
        """Whether a restart would go on alike by it, so that it need not be written anew.

        What a kubelet that is not ready tells of its life, it tells every ten seconds.
        """
        return self._key == other._key and self._is_as_old_as(other)

    def _is_as_old_as(self, other: NodeLossMemory) -> bool:
        if self.since is None or other.since is None:
            return self.since is other.since
        return abs((self.since - other.since).total_seconds()) <= _SAME

    @property
    def _key(self) -> tuple[object, ...]:
        told = self.released, self.fenced, self.distrust, self.after
        return self.uid, self.state, self.silent, *told

    def condemns(self, node: Node, lease: Lease | None) -> bool:
        """Whether the node was silent already when this was written, and has not lived since.

        Whoever looks for the first time need not wait then for it to fall silent. Of a node without
        a Lease nobody can tell.
        """
        renewed = _renewed(lease)
        is_same = renewed is not None and renewed == self.renewed
        return self.silent and is_same and node.metadata.uid == self.uid

    def had_lease_of(self, node: Node) -> bool:
        """Whether the node had a Lease: by that alone one whose condition is True is silent."""
        has = self.renewed is not None or self.state == NodeState.SILENT
        return has and node.metadata.uid == self.uid

    def holds_of(self, node: Node, lease: Lease | None, state: NodeState, now: datetime) -> bool:
        """Whether the node has been lost ever since this was written, and since when it says.

        Args:
            node: as it is now.
            lease: likewise.
            state: likewise.
            now: by the wall clock, in UTC.
        """
        if node.metadata.uid != self.uid or not state.is_lost:
            return False
        if self.since is not None and self.since > now:
            return False
        # A kubelet that says itself that it is not ready renews its Lease all the time, and one
        # without a Lease gives few signs of life: neither has been ready in between if its
        # condition has not changed. All others have been silent.
        ready, renewed = ready_condition(node), _renewed(lease)
        if state is NodeState.NOT_READY or renewed is None:
            changed = None if ready is None else ready.last_transition_time
            had_lease, has_lease = self.renewed is not None, renewed is not None
            return changed is not None and changed == self.transition and had_lease is has_lease
        return renewed == self.renewed

    def lost_for(self, now: datetime) -> float:
        """Seconds for which the node has been lost, if this holds of it still."""
        return 0.0 if self.since is None else max(0.0, (now - self.since).total_seconds())


def _renewed(lease: Lease | None) -> datetime | None:
    return None if lease is None else lease.spec.renew_time


def memory_of(text: str) -> NodeLossMemory | None:
    """What an annotation says; None: nothing, or nothing that can be read."""
    if not text or len(text) > _LONGEST:
        return None
    try:
        return msgspec.json.decode(text, type=NodeLossMemory)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
