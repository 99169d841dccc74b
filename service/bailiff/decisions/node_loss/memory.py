"""What a node's annotation remembers of its loss, so that a restart does not start its time over.

It is believed only as far as the node has not lived since: a node that came back and was lost once
more while nobody looked starts anew. Who reads it goes by its own wall clock, which is put right by
the API server's; a note of the future counts for nothing, and so makes nobody go early.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from bailiff.decisions.node_loss.standing import NodeState
from bailiff.kinds.meta import Time

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions.node_loss.silence import Vigil

# Ours has some two hundred characters; whoever may write to a node could put in more.
_LONGEST = 1024
# Seconds by which the start of a loss may differ for a restart to make nothing of it.
_SAME = 3.0


class NodeLossMemory(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The annotation's JSON; what a later release has added to it is passed over.

    Attributes:
        uid: of the node.
        since: when it was lost, by the clock of the API server.
        state: that it was in when this was written.
        renewed: of its Lease then, by the node's own clock; absent: it had none.
        transition: of its Ready condition then.
        released: when its turn came, by the pace of its zone; absent: it has not.
        fenced: who said that its machine is off; empty: nobody.
        tainted: the taint out-of-service there is Bailiff's own.
    """

    uid: str
    since: Time
    state: str = ""
    renewed: Time | None = None
    transition: Time | None = None
    released: Time | None = None
    fenced: str = ""
    tainted: bool = False

    def text(self) -> str:
        """As the annotation has it."""
        return msgspec.json.encode(self).decode()

    def says_the_same(self, other: NodeLossMemory) -> bool:
        """Whether a restart would go on alike by it, so that it need not be written anew.

        What a kubelet that is not ready tells of its life, it tells every ten seconds.
        """
        apart = abs((self.since - other.since).total_seconds())
        return apart <= _SAME and self._key == other._key

    @property
    def _key(self) -> tuple[object, ...]:
        return self.uid, self.state, self.released, self.fenced, self.tainted

    def condemns(self, uid: str, renewed: datetime | None) -> bool:
        """Whether a node was silent already when this was written, and has not lived since.

        Whoever looks for the first time need not wait then for it to fall silent.

        Args:
            uid: of the node.
            renewed: of its Lease as it is now.
        """
        was_silent = self.state in (NodeState.SILENT, NodeState.UNKNOWN)
        return was_silent and uid == self.uid and renewed is not None and renewed == self.renewed

    def lost_for(self, vigil: Vigil, now: datetime) -> float | None:
        """Seconds for which the node has been lost already; None: that is not to be believed.

        Args:
            vigil: of the node, which has just been looked at for the first time.
            now: by the wall clock, in UTC.
        """
        if vigil.uid != self.uid or not vigil.state.is_lost or self.since > now:
            return None
        # A kubelet that says itself that it is not ready renews its Lease all the time; it has not
        # been ready in between if its condition has not changed. All others have been silent.
        still = vigil.state is NodeState.NOT_READY and vigil.transition is not None
        same = vigil.transition == self.transition if still else vigil.signs.renewed == self.renewed
        return (now - self.since).total_seconds() if same else None


def memory_of(text: str) -> NodeLossMemory | None:
    """What an annotation says; None: nothing, or nothing that can be read."""
    if not text or len(text) > _LONGEST:
        return None
    try:
        return msgspec.json.decode(text, type=NodeLossMemory)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
