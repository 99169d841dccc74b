"""What `kubectl get` prints: the server makes the columns (pkg/printers/internalversion)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff_demo.tables.kinds import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.clock import Clock
    from bailiff_demo.objects import JsonObject
    from bailiff_demo.resources import Resource
    from bailiff_demo.storage import Record

__all__ = ["Table", "partial_metadata", "shown"]


class Table:
    """metav1.Table of one resource; of several made for one watch the first brings the heads."""

    def __init__(self, resource: Resource, clock: Clock, include_object: str) -> None:
        """Prepare.

        Args:
            resource: of which kind.
            clock: for ages.
            include_object: what each row carries: `None`, `Metadata` or `Object`.
        """
        self._resource = resource
        self._columns = columns_of(resource)
        self._clock = clock
        self._include_object = include_object
        self._definitions = [column.definition() for column in self._columns]

    def of(self, records: Iterable[Record], meta: JsonObject) -> JsonObject:
        """A table of these objects; `meta` is metav1.ListMeta."""
        return self._table(meta, [self._row(record) for record in records])

    def bookmark(self, mark: JsonObject) -> JsonObject:
        """A table that carries a bookmark."""
        row = {"cells": [None] * len(self._columns), "object": mark}
        return self._table({"resourceVersion": mark["metadata"]["resourceVersion"]}, [row])

    def _table(self, meta: JsonObject, rows: list[JsonObject]) -> JsonObject:
        definitions, self._definitions = self._definitions, []
        head = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta}
        return {**head, "columnDefinitions": definitions, "rows": rows}

    def _row(self, record: Record) -> JsonObject:
        now = self._clock.now()
        row: JsonObject = {"cells": [column.cell(record.object, now) for column in self._columns]}
        if self._include_object == "Object":
            row["object"] = shown(self._resource, record)
        elif self._include_object != "None":
            row["object"] = partial_metadata(record)
        return row


def shown(resource: Resource, record: Record) -> JsonObject:
    """An object as this version of its resource shows it."""
    return {**record.object, "apiVersion": resource.api_version}


def partial_metadata(record: Record) -> JsonObject:
    """metav1.PartialObjectMetadata."""
    kind = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    return {**kind, "metadata": record.object["metadata"]}
