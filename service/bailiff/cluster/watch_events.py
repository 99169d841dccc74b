"""What a watch says, as values. No I/O: a line goes in, an event comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from bailiff import kinds
from bailiff.cluster.answers import decode_answer
from bailiff.cluster.errors import ResponseError
from bailiff.cluster.status import Status, status_error
from bailiff.cluster.unreadable import Unreadable, decode_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.kinds import ObjectMeta


class HasMetadata(Protocol):
    """An object that a mirror can tell from others."""

    @property
    def metadata(self) -> ObjectMeta:
        """Its identity and version."""
        ...


T = TypeVar("T", bound=HasMetadata)


class Replaced(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """The whole of it: what is not among the items is gone. The first event is always one.

    Attributes:
        items: all that can be decoded.
        resource_version: the state of the cluster that they are of.
        unreadable: those that are there and cannot be decoded.
    """

    items: tuple[T, ...]
    resource_version: str
    unreadable: tuple[Unreadable, ...] = ()


class Changed(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """An object is new, or not as it was."""

    object: T


class Deleted(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """An object is gone; this is its last state."""

    object: T


WatchEvent: TypeAlias = Replaced[T] | Changed[T] | Deleted[T] | Unreadable
# What one line of a watch may say of an object.
ObjectEvent: TypeAlias = Changed[T] | Deleted[T] | Unreadable


class Bookmark(msgspec.Struct, frozen=True, gc=False):
    """The watch has come as far as this version, without an event to show for it."""

    resource_version: str
    ends_initial_events: bool = False


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _BookmarkMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    annotations: dict[str, str] = msgspec.field(default_factory=dict)


class _BookmarkObject(msgspec.Struct):
    metadata: _BookmarkMeta = msgspec.field(default_factory=_BookmarkMeta)


_INITIAL_EVENTS_END = "k8s.io/initial-events-end"
_decode_line = msgspec.json.Decoder(_Line).decode


def decode_event(line: bytes, kind: type[T], slim: Callable[[T], T]) -> ObjectEvent[T] | Bookmark:
    """One line of a watch.

    Args:
        line: JSON.
        kind: of the objects that are watched.
        slim: applied to each object before anybody else sees it.

    Raises:
        StatusError: the line is an ERROR event; ExpiredError when the version is too old.
        ResponseError: the line is no event.
    """
    try:
        event = _line(line)
        body = bytes(event.object)
        match event.type:
            case "ADDED" | "MODIFIED" | "DELETED":
                return _object_event(body, kind, slim, deleted=event.type == "DELETED")
            case "BOOKMARK":
                return _bookmark(body)
            case "ERROR":
                status = decode_answer(body, Status)
                raise status_error("watch", status.code or 500, status)
            case other:
                raise ResponseError(f"watch: unknown event type {other[:50]!r}")
    except (kinds.DecodeError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ResponseError(f"watch: {error}") from error


def _line(line: bytes) -> _Line:
    try:
        return _decode_line(line)
    except RecursionError:
        # An object may nest deeper than Python can follow, see decode_answer.
        return _decode_line(kinds.without_depths(line, kinds.MAX_DEPTH))


def _object_event(
    body: bytes, kind: type[T], slim: Callable[[T], T], *, deleted: bool
) -> ObjectEvent[T]:
    found = decode_object(body, kind, deleted=deleted)
    if isinstance(found, Unreadable):
        return found
    return Deleted(slim(found)) if deleted else Changed(slim(found))


def _bookmark(body: bytes) -> Bookmark:
    metadata = decode_answer(body, _BookmarkObject).metadata
    ends = metadata.annotations.get(_INITIAL_EVENTS_END) == "true"
    return Bookmark(metadata.resource_version, ends_initial_events=ends)


class InitialEvents(Generic[T]):
    """Collects the events before the marked bookmark into one Replaced."""

    def __init__(self) -> None:
        self._objects: dict[tuple[str, str], T] = {}
        self._unreadable: dict[tuple[str, str], Unreadable] = {}

    def take(self, event: ObjectEvent[T] | Bookmark) -> Replaced[T] | None:
        """The whole, once the event marks its end."""
        if isinstance(event, Bookmark):
            return self._whole(event) if event.ends_initial_events else None
        metadata = event.metadata if isinstance(event, Unreadable) else event.object.metadata
        key = (metadata.namespace, metadata.name)
        # Of each object the last word counts.
        self._objects.pop(key, None)
        self._unreadable.pop(key, None)
        match event:
            case Changed(object=found):
                self._objects[key] = found
            case Unreadable(deleted=False):
                self._unreadable[key] = event
        return None

    def _whole(self, end: Bookmark) -> Replaced[T]:
        unreadable = tuple(self._unreadable.values())
        return Replaced(tuple(self._objects.values()), end.resource_version, unreadable)
