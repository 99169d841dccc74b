"""The book of budgets over time as it stands in a ConfigMap: a text for each budget. Pure.

    web: {"seconds": 3600, "evictions": {"": "1764094800123:9f86d081884c7d65 ..."}}

The key is the budget's name. In `evictions` stand the columns, by namespace, node or zone; in each
the evictions that are counted, as the POSIX millisecond and a digest made of the pod's UID. Where a
budget counts nodes the key of a column begins with `nodes/`, and the digest is made of the node's
name: to releases that know of no such budgets these are columns of nobody, which they keep.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from bailiff.decisions.policies.over_time_columns import Book, Column, Sheet
from bailiff.decisions.policies.over_time_settings import MAX_BYTES, MAX_SPAN
from bailiff.kinds import DecodeError, decode
from bailiff.kinds.meta import Value

# In the year 9000: what is added to it is still an instant.
_LAST = 221_845_392_000_000


class BookError(ValueError):
    """What the ConfigMap holds is no book; the message says where, and what is wrong."""


class _Sheet(Value, frozen=True):
    seconds: Annotated[int, Meta(ge=1, le=MAX_SPAN)]
    evictions: Mapping[str, str] = {}


def read_book(data: Mapping[str, str]) -> Book:
    """The book that the data of the ConfigMap holds.

    Raises:
        BookError: there is something else. What cannot be read may be what is used up.
    """
    return {name: _read_sheet(name, text) for name, text in data.items()}


def write_book(book: Book) -> dict[str, str]:
    """The data of the ConfigMap.

    Raises:
        BookError: it is longer than MAX_BYTES.
    """
    data = {name: _write_sheet(sheet) for name, sheet in book.items()}
    size = sum(map(len, data.values()))
    if size > MAX_BYTES:
        raise BookError(f"{size} bytes of counted evictions, at most {MAX_BYTES} are kept")
    return data


def _read_sheet(name: str, text: str) -> Sheet:
    try:
        sheet = decode(text.encode(), _Sheet)
        columns = {key: _read_column(column) for key, column in sheet.evictions.items()}
    except (DecodeError, ValueError) as error:
        raise BookError(f"key {name}: {str(error)[:200]}") from error
    return Sheet(sheet.seconds, columns)


def _read_column(text: str) -> Column:
    pairs = (one.split(":") for one in text.split())
    found = {pod: int(at) for at, pod in pairs}
    if any(not 0 <= at <= _LAST for at in found.values()):
        raise ValueError("an instant out of range")
    return Column.of(found)


def _write_sheet(sheet: Sheet) -> str:
    columns = {
        key: " ".join([f"{at}:{pod}" for pod, at in column.by_pod.items()])
        for key, column in sheet.columns.items()
    }
    return msgspec.json.encode(_Sheet(seconds=sheet.seconds, evictions=columns)).decode()
