"""Lists: selection, pages and versions."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from bailiff_demo import errors
from bailiff_demo.selectors import EVERYTHING, Selection

if TYPE_CHECKING:
    from bailiff_demo.resources import Resource
    from bailiff_demo.storage import Record, Store


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


class _Token(msgspec.Struct, frozen=True):
    """Where the next page begins, and the version that it shows."""

    version: int
    after: tuple[str, str]


def list_page(store: Store, resource: Resource, options: ListOptions) -> Page:
    """A page.

    Raises:
        ApiError: 400, no such token; 410, its version has left the history.
    """
    token = _decode(options.token) if options.token else None
    version = store.version if options.version is None else options.version
    version = version if token is None else token.version
    records = _records(store, resource, version, options.selection.namespace)
    if token is not None:
        records = records[bisect_right(records, token.after, key=lambda record: record.key) :]
    if not options.selection.everything:
        records = [record for record in records if options.selection.matches(record.object)]
    return _cut(records, version, options)


def _records(store: Store, resource: Resource, version: int, namespace: str | None) -> list[Record]:
    bucket = store.bucket(resource)
    if version >= store.version:
        return list(bucket.records(namespace))
    snapshot = bucket.snapshot(version)
    return [snapshot[key] for key in sorted(snapshot) if namespace in (None, key[0])]


def _cut(records: list[Record], version: int, options: ListOptions) -> Page:
    limit = options.limit
    if not limit or len(records) <= limit:
        return Page(version, records)
    remaining = len(records) - limit if options.selection.everything else None
    raw = msgspec.json.encode(_Token(version, records[limit - 1].key))
    token = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    return Page(version, records[:limit], token, remaining)


def _decode(token: str) -> _Token:
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        return msgspec.json.decode(raw, type=_Token)
    except (binascii.Error, ValueError, msgspec.DecodeError) as error:
        raise errors.bad_request("continue key is not valid") from error
