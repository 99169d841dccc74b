"""An object that cannot be decoded, or is beyond Kubernetes' limits, told by its identity.

The API server keeps objects that our types refuse, such as one with a time in the year 0
("timeAdded": "0000-01-01T00:00:00Z"): Go's time.Time has that year, Python's datetime has not. One
such object must not keep the other 150,000 from being read, so it is left out and told of.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from bailiff import kinds
from bailiff.cluster.answers import decode_answer
from bailiff.cluster.limits import (
    MAX_OBJECT_BYTES,
    Excess,
    Refusal,
    excess_of,
    excess_of_size,
    excess_of_text,
)
from bailiff.kinds import ObjectMeta
from bailiff.kinds.names import MAX_SUBDOMAIN

T = TypeVar("T")

# Of the reason, for people; an error names one field.
_MAX_REASON = 500


class Unreadable(msgspec.Struct, frozen=True, gc=False):
    """An object that cannot be decoded: nothing is known of it but who it is.

    Whoever keeps objects forgets what it had of this one, because that is how it was before; and
    takes it for neither present nor absent where an absence would allow an eviction.

    Attributes:
        metadata: name, namespace, UID and resourceVersion; nothing else is filled in.
        reason: what could not be decoded and where; at most 500 characters.
        deleted: it was deleted, and its last state cannot be decoded.
        refusal: which kind of limit it exceeds (see `limits`); None: it cannot be decoded.
    """

    metadata: ObjectMeta
    reason: str
    deleted: bool = False
    refusal: Refusal | None = None


class _Identity(msgspec.Struct, rename="camel"):
    name: str
    resource_version: str
    namespace: str = ""
    uid: str = ""


class _Identified(msgspec.Struct):
    metadata: _Identity


def decode_object(body: bytes, kind: type[T], *, deleted: bool = False) -> T | Unreadable:
    """An object of a list or a watch, or who it is where the rest is not to be had.

    Args:
        body: JSON.
        kind: the type to fill.
        deleted: this is its last state.

    Raises:
        DecodeError: not even its name and resourceVersion can be decoded.
    """
    if len(body) > MAX_OBJECT_BYTES:
        return _refused(body, excess_of_size(len(body)), deleted=deleted)
    try:
        found = decode_answer(body, kind)
    except kinds.DecodeError as error:
        reason = str(error)[:_MAX_REASON]
        if (excess := excess_of_text(reason)) is not None:
            return _refused(body, excess, deleted=deleted)
        return Unreadable(_identity(body), reason, deleted)
    excess = excess_of(found)
    return found if excess is None else _refused(body, excess, deleted=deleted)


def _refused(body: bytes, excess: Excess, *, deleted: bool) -> Unreadable:
    return Unreadable(_identity(body), excess.words[:_MAX_REASON], deleted, excess.refusal)


def _identity(body: bytes) -> ObjectMeta:
    found = decode_answer(body, _Identified).metadata
    return ObjectMeta(
        name=_bounded(found.name),
        namespace=_bounded(found.namespace),
        uid=_bounded(found.uid),
        resource_version=found.resource_version,
    )


def _bounded(text: str) -> str:
    """No longer than any name; one that is cut is no other object's, which has no such sign."""
    return text if len(text) <= MAX_SUBDOMAIN else f"{text[:MAX_SUBDOMAIN]}…"
