"""What a system wants to see of a live cluster, and what it gets to see."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from bailiff.kinds import Node
    from bailiff.kinds.meta import Value


class Wanted(NamedTuple):
    """Objects of the cluster that a system wants to see, for an answer about live objects.

    Attributes:
        kind: their type in `kinds`.
        namespace: where they live; empty for kinds without one.
        names: only these, as far as there are any of the name; None: all.
        fields: only those with these values, as of a field selector.
        unlike: only those without these values, likewise.
        most: no more than so many of those, whichever; None: all.
    """

    kind: type[Value]
    namespace: str = ""
    names: tuple[str, ...] | None = None
    fields: tuple[tuple[str, str], ...] = ()
    unlike: tuple[tuple[str, str], ...] = ()
    most: int | None = None


class OfKubelet(NamedTuple):
    """What the kubelet of a node tells, which is no object: wanted as objects are.

    Seen are two values: the Summary of what it measures now, and the KubeletConfiguration that it
    runs with; or that they could not be read, for whatever reason.

    Attributes:
        node: whose kubelet.
    """

    node: Node


class NotAdmitted(NamedTuple):
    """A pod that the kubelet of its node would not start, as the pod's status would tell.

    Attributes:
        reason: for programs.
        message: for people.
    """

    reason: str
    message: str


class Why(Enum):
    """Why something could not be read."""

    FORBIDDEN = "forbidden"
    NOT_SERVED = "not served"
    # Nobody has allowed to ask for it, so nothing is to be said of it.
    NOT_ASKED = "not asked"
    NOT_ANSWERED = "not answered"


class NotRead(NamedTuple):
    """What could not be read.

    Attributes:
        why: see there.
        detail: for people, and what to do about it.
        known: what of it is known all the same.
    """

    why: Why
    detail: str
    known: tuple[Value, ...] = ()


Seen: TypeAlias = "tuple[Value, ...] | NotRead"
