"""An object that cannot be decoded, told by its identity.

The API server keeps objects that our types refuse, such as one with a time in the year 0
("timeAdded": "0000-01-01T00:00:00Z"): Go's time.Time has that year, Python's datetime has not. One
such object must not keep the other 150,000 from being read, so it is left out and told of.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from bailiff import kinds
from bailiff.cluster.answers import decode_answer
from bailiff.kinds import ObjectMeta

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
    """

    metadata: ObjectMeta
    reason: str
    deleted: bool = False


class _Identity(msgspec.Struct, rename="camel"):
    name: str
    resource_version: str
    namespace: str = ""
    uid: str = ""


class _Identified(msgspec.Struct):
    metadata: _Identity


def decode_object(body: bytes, kind: type[T], *, deleted: bool = False) -> T | Unreadable:
    """An object of a list or a watch, or who it is where the rest cannot be decoded.

    Args:
        body: JSON.
        kind: the type to fill.
        deleted: this is its last state.

    Raises:
        DecodeError: not even its name and resourceVersion can be decoded.
    """
    try:
        return decode_answer(body, kind)
    except kinds.DecodeError as error:
        reason = str(error)[:_MAX_REASON]
        return Unreadable(_identity(body), reason, deleted)


def _identity(body: bytes) -> ObjectMeta:
    found = decode_answer(body, _Identified).metadata
    return ObjectMeta(
        name=found.name,
        namespace=found.namespace,
        uid=found.uid,
        resource_version=found.resource_version,
    )
