"""When taints without timeAdded came to a node.

`kubectl taint` writes no timeAdded, so somebody has to remember when such a taint came. The worker
notes it in one annotation of the node, and everybody who decides reads it there: a restarted
worker, another replica, and the decision API, which then all name the same deadline.

A note may outlive its taint: the taint is taken away, nobody is there to clear the note, and the
taint comes back. So a note names the last edit of the node's taints that its writer knew of, by
the API server's `managedFields` (`Node.taints_edited`), and counts only while that is still the
last one. Where it is not, the taint counts from the last edit: it is certainly there since then.
That may be later than it came, since the time of an edit moves with other edits, and never
earlier.

The time of an edit is cut to whole seconds, so a second edit within the same second would not
show. A writer therefore notes a taint only once it has seen the edit for EDIT_SECONDS, and only on
that version of the node.

An object without `managedFields` that a caller hands over, as `kubectl get` prints it, has nothing
that shows a later edit, so there the note counts as it stands. Whoever reads nodes from a cluster
knows that nothing was left out, and believes no note of such a node (`as_served`).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from bailiff.decisions.instants import in_utc, later
from bailiff.decisions.node_taints.facts import TaintObservation
from bailiff.kinds import NO_EXECUTE, DecodeError, Time, decode
from bailiff.kinds import as_served as as_served  # noqa: PLC0414 - belongs to these rules, too

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bailiff.kinds import Node, Taint

Identity: TypeAlias = tuple[str, str, str]

# The resolution of the times in managedFields (metav1.Time).
EDIT_SECONDS = 1

# Two workers see the same taint this far apart, at most, without one correcting the other's note.
_SAME_SECONDS = 1.0


class Note(TaintObservation, frozen=True, forbid_unknown_fields=False):
    """An entry of the annotation; what a newer worker may write besides is skipped.

    Attributes:
        edited: the last edit of the node's taints that its writer knew of; None: it could not
            tell, as before 0.2.
    """

    edited: Time | None = None


class Since(msgspec.Struct, frozen=True, gc=False):
    """From when a taint counts.

    Attributes:
        at: in UTC, and not in the future.
        source: what tells: `timeAdded`, `firstObserved`, `managedFields`, or `now` for nothing.
        is_known: False where it counts from the instant of the question, because nothing tells, or
            an instant in the future: asked again, it counts from then.
    """

    at: datetime
    source: str
    is_known: bool = True


def from_now(now: datetime) -> Since:
    """For a taint of which nothing tells since when it is there."""
    return Since(in_utc(now), "now", is_known=False)


def since(
    node: Node, first_observed: Iterable[TaintObservation], now: datetime
) -> dict[Identity, Since]:
    """From when each NoExecute taint without timeAdded counts.

    Args:
        node: with its annotation and its managedFields.
        first_observed: what the caller knows, which counts before what the node tells.
        now: the instant to decide for: what was first seen later counts from now.
    """
    present = untimed(node)
    if not present:
        return {}
    told = {(o.key, o.value, o.effect): Since(o.time, "firstObserved") for o in first_observed}
    noted, edited = vouched(node), node.taints_edited
    unnoted = from_now(now)
    if edited is not None:
        unnoted = Since(later(edited, EDIT_SECONDS), "managedFields")
    found = {identity: told.get(identity) or noted.get(identity) or unnoted for identity in present}
    return {identity: _not_after(now, one) for identity, one in found.items()}


def is_told(node: Node, first_observed: Iterable[TaintObservation]) -> bool:
    """Whether anything tells from when a taint counts; where nothing does it is from now.

    To look is a fifth of a decision for a node of its own, and callers mostly tell nothing.
    """
    metadata = node.metadata
    return bool(
        first_observed or metadata.annotations.taints_first_observed or metadata.managed_fields
    )


def vouched(node: Node) -> dict[Identity, Since]:
    """What the node's notes tell, as far as no later edit of its taints shows.

    Whoever may write a node's annotations may write any time into a note. None is believed that is
    before the node's creation, by the API server's clock: no taint was on the node then.
    """
    edited, made = node.taints_edited, node.metadata.creation_timestamp
    return {
        identity: Since(note.time if made is None else max(note.time, made), "firstObserved")
        for identity, note in read(node).items()
        if edited is None or note.edited == edited
    }


def read(node: Node) -> dict[Identity, Note]:
    """What the node's annotation says, believed or not; a spoilt one says nothing."""
    text = node.metadata.annotations.taints_first_observed
    if not text:
        return {}
    try:
        notes = decode(text.encode(), tuple[Note, ...])
    except DecodeError:
        return {}
    return {(o.key, o.value, o.effect): o for o in notes}


def annotation(node: Node, known: Mapping[Identity, Since]) -> str | None:
    """What the node's annotation should read; empty for nothing, None where it reads so already.

    Args:
        node: as it is.
        known: since when its untimed NoExecute taints count.
    """
    text = node.metadata.annotations.taints_first_observed
    if not known:
        return "" if text else None
    if _says_the_same(read(node), known, node.taints_edited):
        return None
    notes = [_note(identity, one.at, node.taints_edited) for identity, one in known.items()]
    return msgspec.json.encode(notes).decode()


def untimed(node: Node) -> dict[Identity, Taint]:
    """The node's NoExecute taints without timeAdded."""
    return {
        identity_of(taint): taint
        for taint in node.spec.taints
        if taint.effect == NO_EXECUTE and taint.time_added is None
    }


def identity_of(taint: Taint) -> Identity:
    """What makes a taint the same one: another value is another taint."""
    return taint.key, taint.value, taint.effect


def _note(identity: Identity, at: datetime, edited: datetime | None) -> Note:
    key, value, effect = identity
    return Note(key=key, value=value, effect=effect, time=at, edited=edited)


def _says_the_same(
    notes: Mapping[Identity, Note], known: Mapping[Identity, Since], edited: datetime | None
) -> bool:
    return notes.keys() == known.keys() and all(
        note.edited == edited and _close(note.time, known[identity].at)
        for identity, note in notes.items()
    )


def _close(one: datetime, other: datetime) -> bool:
    return abs((in_utc(one) - in_utc(other)).total_seconds()) < _SAME_SECONDS


def _not_after(now: datetime, one: Since) -> Since:
    at = in_utc(one.at)
    if at <= now:
        return Since(at, one.source, one.is_known)
    return Since(in_utc(now), one.source, is_known=False)
