"""metav1.Table, for lists and for watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bailiff.embedded.tables.kinds import columns_of
from bailiff.embedded.views import from_storage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.clock import Clock
    from bailiff.embedded.objects import JsonObject
    from bailiff.embedded.resources import Resource
    from bailiff.embedded.storage import Record

_encode = msgspec.json.Encoder().encode


def table_body(
    resource: Resource,
    records: Iterable[Record],
    meta: JsonObject,
    clock: Clock,
    include_object: str = "Metadata",
) -> bytes:
    """A table of these objects.

    Args:
        resource: of which kind.
        records: the rows.
        meta: metav1.ListMeta of the list that it shows.
        clock: for ages.
        include_object: what each row carries: `None`, `Metadata` or `Object`.
    """
    table = _table(resource, records, meta, clock, include_object)
    table["columnDefinitions"] = [column.definition() for column in columns_of(resource)]
    return _encode(table)


def _table(
    resource: Resource,
    records: Iterable[Record],
    meta: JsonObject,
    clock: Clock,
    include_object: str,
) -> JsonObject:
    now = clock.now()
    columns = columns_of(resource)
    rows = []
    for record in records:
        row: JsonObject = {"cells": [column.cell(record.object, now) for column in columns]}
        if include_object != "None":
            row["object"] = _row_object(resource, record, whole=include_object == "Object")
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": meta,
        "columnDefinitions": [],
        "rows": rows,
    }


def _row_object(resource: Resource, record: Record, *, whole: bool) -> JsonObject:
    if whole:
        return from_storage(resource, record.object)
    return partial_metadata(record.object)


def partial_metadata(obj: JsonObject) -> JsonObject:
    """metav1.PartialObjectMetadata."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": obj["metadata"],
    }


class TableFrames:
    """Changes as tables of one row; only the first one brings the heads, as upstream does."""

    def __init__(self, resource: Resource, clock: Clock, include_object: str) -> None:
        self._resource = resource
        self._clock = clock
        self._include_object = include_object
        self._first = True

    def change(self, kind: str, record: Record) -> bytes:
        """One line."""
        meta = {"resourceVersion": str(record.version)}
        table = _table(self._resource, [record], meta, self._clock, self._include_object)
        return self._line(kind, table)

    def bookmark(self, version: int, annotations: dict[str, str]) -> bytes:
        """A line that says: nothing is missing up to this version."""
        shown = {
            "kind": self._resource.kind,
            "apiVersion": self._resource.api_version,
            "metadata": {"resourceVersion": str(version), "annotations": annotations},
        }
        meta = {"resourceVersion": str(version)}
        table = _table(self._resource, [], meta, self._clock, self._include_object)
        table["rows"] = [{"cells": [None] * len(columns_of(self._resource)), "object": shown}]
        return self._line("BOOKMARK", table)

    def _line(self, kind: str, table: JsonObject) -> bytes:
        if self._first:
            table["columnDefinitions"] = [c.definition() for c in columns_of(self._resource)]
            self._first = False
        return _encode({"type": kind, "object": table}) + b"\n"
