"""Lists: selection, pages and versions."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from bailiff.embedded import errors
from bailiff.embedded.errors import ApiError
from bailiff.embedded.selectors import EVERYTHING, Selection

if TYPE_CHECKING:
    from bailiff.embedded.resources import Resource
    from bailiff.embedded.storage import Bucket, Key, Record, Store

_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can "
    "start a new list without the continue parameter, or use the continue token in this response "
    "to retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """What is to be listed.

    Attributes:
        selection: which objects.
        limit: items of a page; 0 for all.
        token: the `continue` of the page before.
        version: list the state at exactly this version; None for the present.
    """

    selection: Selection = EVERYTHING
    limit: int = 0
    token: str = ""
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list.

    Attributes:
        version: the state that it shows.
        records: the objects, in order.
        token: for the next page; empty for none.
        remaining: how many follow; None where that is not counted.
    """

    version: int
    records: list[Record]
    token: str = ""
    remaining: int | None = None


class _Token(msgspec.Struct):
    """Where the next page begins. Version -1 is the present, whatever that is by then."""

    v: int
    start: tuple[str, str]


def list_page(store: Store, resource: Resource, options: ListOptions) -> Page:
    """A page.

    Raises:
        ApiError: 400, no such token; 410, its version has left the history.
    """
    bucket = store.bucket(resource)
    token = _decode(options.token) if options.token else None
    if token is not None:
        version = store.version if token.v < 0 else token.v
    else:
        version = store.version if options.version is None else options.version
    records = _records(store, bucket, version, options.selection.namespace, token)
    if token is not None:
        records = records[bisect_right(records, token.start, key=lambda record: record.key) :]
    if not options.selection.everything:
        records = [record for record in records if options.selection.matches(record.object)]
    return _cut(records, version, options)


def _records(
    store: Store, bucket: Bucket, version: int, namespace: str | None, token: _Token | None
) -> list[Record]:
    if version >= store.version:
        return list(bucket.records(namespace))
    try:
        snapshot = bucket.snapshot(version)
    except ApiError as error:
        raise (error if token is None else _expired(token)) from error
    keys: list[Key] = sorted(snapshot)
    return [snapshot[key] for key in keys if namespace is None or key[0] == namespace]


def _expired(token: _Token) -> ApiError:
    error = errors.expired(_TOO_OLD)
    error.list_continue = _encode(-1, token.start)
    return error


def _cut(records: list[Record], version: int, options: ListOptions) -> Page:
    limit = options.limit
    if not limit or len(records) <= limit:
        return Page(version, records)
    remaining = len(records) - limit if options.selection.everything else None
    return Page(version, records[:limit], _encode(version, records[limit - 1].key), remaining)


def _encode(version: int, start: Key) -> str:
    raw = msgspec.json.encode(_Token(version, start))
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decode(token: str) -> _Token:
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        return msgspec.json.decode(raw, type=_Token)
    except (binascii.Error, ValueError, msgspec.DecodeError) as error:
        raise errors.bad_request("continue key is not valid") from error
