"""When taints without timeAdded were first seen, written down on the node itself.

`kubectl taint` writes no timeAdded, so somebody has to remember when such a taint came. The worker
does so in one annotation of the node, and everybody who decides reads it there: a restarted
worker, another replica, and the decision API, which then all name the same deadline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bailiff.decisions.facts import TaintObservation
from bailiff.kinds import NO_EXECUTE, DecodeError, decode

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bailiff.kinds import Node, Taint

_Identity = tuple[str, str, str]
Observed = dict[_Identity, TaintObservation]

_EMPTY: Observed = {}


def read(node: Node) -> Observed:
    """What the node's annotation says, by identity of taint; a spoilt one says nothing."""
    text = node.metadata.annotations.taints_first_observed
    if not text:
        return _EMPTY
    try:
        found = decode(text.encode(), tuple[TaintObservation, ...])
    except DecodeError:
        return _EMPTY
    return {(o.key, o.value, o.effect): o for o in found}


def observe(node: Node, known: Observed, now: datetime) -> Observed:
    """The observations of the node's present untimed NoExecute taints.

    What the node says counts first, because others read it too; then what is known; a taint that
    neither knows is new. Those of taints that are gone are left out: a taint that comes back
    starts anew.
    """
    written = read(node)
    present: Observed = {}
    for taint in node.spec.taints:
        if taint.effect == NO_EXECUTE and taint.time_added is None:
            identity = identity_of(taint)
            present[identity] = (
                written.get(identity) or known.get(identity) or _first_seen(taint, now)
            )
    return present


def write(observations: Iterable[TaintObservation]) -> str:
    """The annotation's value; empty where there is nothing to remember."""
    found = tuple(observations)
    return msgspec.json.encode(found).decode() if found else ""


def identity_of(taint: Taint) -> _Identity:
    """What makes a taint the same one: another value is another taint."""
    return taint.key, taint.value, taint.effect


def _first_seen(taint: Taint, now: datetime) -> TaintObservation:
    return TaintObservation(key=taint.key, value=taint.value, effect=taint.effect, time=now)
