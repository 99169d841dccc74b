"""What is told of a node that may be lost."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from bailiff.decisions.node_loss.settings import NodeLossSettings
from bailiff.kinds.daemon_set import DaemonSet
from bailiff.kinds.lease import Lease
from bailiff.kinds.meta import Time, Value
from bailiff.kinds.texts import Word
from bailiff.kinds.volume_claim import PersistentVolumeClaim

Message = Annotated[str, Meta(max_length=1024)]
# Of two labels and what parts them.
ZoneName = Annotated[str, Meta(max_length=127)]

MAX_DAEMON_SETS = 5_000
MAX_CLAIMS = 20_000
MAX_ZONES = 1_000
Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class ZoneCount(Value, frozen=True, forbid_unknown_fields=True):
    """How many nodes of a zone are ready.

    Nodes with the label `node.kubernetes.io/exclude-disruption` do not count.

    Attributes:
        name: of the zone, by topology.kubernetes.io/zone, after that of its region and `/` where
            nodes have topology.kubernetes.io/region; empty: nodes without either.
        ready: nodes that are.
        not_ready: nodes that are not, or are silent.
    """

    name: ZoneName = ""
    ready: Number = 0
    not_ready: Number = 0


class OffProof(Value, frozen=True, forbid_unknown_fields=True):
    """What a fencing hook said of the machine.

    Attributes:
        off: it is off.
        by: who said so, as `http` or `command`.
        at: when.
        message: in its words, or why it has not answered.
    """

    off: bool = False
    by: Word = ""
    at: Time | None = None
    message: Message = ""


class NodeLossFacts(Value, frozen=True, forbid_unknown_fields=True):
    """What is known of the node besides itself.

    Attributes:
        settings: how its loss is judged; absent, with nothing else told: it is not asked about.
        lease: its Lease in kube-node-lease; absent: there is none, or it is not known.
        lost_since: since when whoever asks knows it as not ready or silent, by a time that has not
            been set back; absent: as the Ready condition and the Lease tell. It does not say that
            the node is lost: a Lease that is renewed tells otherwise.
        lives: whoever watches the node knows that its kubelet gives signs of life, or that it gives
            none; absent: as the Lease tells by its time.
        zones: how many nodes of each zone are ready, its own among them; none: nobody knows, and no
            zone holds anything up.
        released: its turn has come, by the pace of its zone; false: nobody goes before it has;
            absent: it is as if it came as soon as its time is over.
        contradiction: why what is known of the node cannot be, so that nobody goes; empty: nothing.
        proof: what a fencing hook said; absent: none was asked.
        daemon_sets: of the namespaces of its pods.
        claims: those that its pods use, in their namespaces; one that is missing is taken for one
            that a single node may use.
    """

    settings: NodeLossSettings | None = None
    lease: Lease | None = None
    lost_since: Time | None = None
    lives: bool | None = None
    zones: Annotated[tuple[ZoneCount, ...], Meta(max_length=MAX_ZONES)] = ()
    released: bool | None = None
    contradiction: Message = ""
    proof: OffProof | None = None
    daemon_sets: Annotated[tuple[DaemonSet, ...], Meta(max_length=MAX_DAEMON_SETS)] = ()
    claims: Annotated[tuple[PersistentVolumeClaim, ...], Meta(max_length=MAX_CLAIMS)] = ()
