"""What a watch says, as values. No I/O: a line goes in, an event comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from bailiff import kinds
from bailiff.cluster.errors import ResponseError
from bailiff.cluster.status import Status, status_error

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
    """The whole of it: what is not among the items is gone. The first event is always one."""

    items: tuple[T, ...]
    resource_version: str


class Changed(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """An object is new, or not as it was."""

    object: T


class Deleted(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """An object is gone; this is its last state."""

    object: T


WatchEvent: TypeAlias = Replaced[T] | Changed[T] | Deleted[T]


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
_line = msgspec.json.Decoder(_Line).decode


def decode_event(
    line: bytes, kind: type[T], slim: Callable[[T], T]
) -> Changed[T] | Deleted[T] | Bookmark:
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
            case "ADDED" | "MODIFIED":
                return Changed(slim(kinds.decode(body, kind)))
            case "DELETED":
                return Deleted(slim(kinds.decode(body, kind)))
            case "BOOKMARK":
                return _bookmark(body)
            case "ERROR":
                status = kinds.decode(body, Status)
                raise status_error("watch", status.code or 500, status)
            case other:
                raise ResponseError(f"watch: unknown event type {other[:50]!r}")
    except (kinds.DecodeError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ResponseError(f"watch: {error}") from error


def _bookmark(body: bytes) -> Bookmark:
    metadata = kinds.decode(body, _BookmarkObject).metadata
    ends = metadata.annotations.get(_INITIAL_EVENTS_END) == "true"
    return Bookmark(metadata.resource_version, ends_initial_events=ends)


class InitialEvents(Generic[T]):
    """Collects the events before the marked bookmark into one Replaced."""

    def __init__(self) -> None:
        self._objects: dict[tuple[str, str], T] = {}

    def take(self, event: Changed[T] | Deleted[T] | Bookmark) -> Replaced[T] | None:
        """The whole, once the event marks its end."""
        if isinstance(event, Bookmark):
            if not event.ends_initial_events:
                return None
            return Replaced(tuple(self._objects.values()), event.resource_version)
        metadata = event.object.metadata
        key = (metadata.namespace, metadata.name)
        if isinstance(event, Deleted):
            self._objects.pop(key, None)
        else:
            self._objects[key] = event.object
        return None
