"""Writing answers: objects and lists, as JSON or as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from bailiff_demo import errors
from bailiff_demo.columns import columns_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from bailiff.clock import Clock
    from bailiff_demo.http.pages import Page
    from bailiff_demo.objects import JsonObject
    from bailiff_demo.resources import Resource
    from bailiff_demo.store import Record

encode = msgspec.json.Encoder().encode


def json_response(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON value."""
    headers = {"cache-control": "no-cache, private", **(headers or {})}
    return Response(encode(value), status, headers, "application/json")


def wants_table(request: Request) -> bool:
    """Whether the first form that the client accepts, and we have, is metav1.Table.

    Raises:
        ApiError: 406, the client accepts none.
    """
    for clause in request.headers.get("accept", "*/*").split(","):
        media, *parameters = (token.strip() for token in clause.split(";"))
        given = dict(parameter.partition("=")[::2] for parameter in parameters)
        if media.lower() not in ("application/json", "application/*", "*/*"):
            continue
        if "as" not in given or (given["as"], given.get("v")) == ("Table", "v1"):
            return "as" in given
    raise errors.not_acceptable()


class Answers:
    """Answers about one resource in the form that the client accepts."""

    def __init__(self, request: Request, resource: Resource, clock: Clock) -> None:
        """Choose the form.

        Raises:
            ApiError: 406, the client accepts none.
        """
        self._is_table = wants_table(request)
        self._resource = resource
        self._clock = clock
        self._row_object = request.query_params.get("includeObject", "Metadata")
        # Of the tables of one watch only the first brings the heads.
        self._definitions = [column.definition() for column in columns_of(resource)]

    def record(self, record: Record, status: int = 200) -> Response:
        """One object."""
        return json_response(self.one(record), status)

    def one(self, record: Record) -> JsonObject:
        """One object, as JSON."""
        if not self._is_table:
            return self._shown(record)
        version = record.object["metadata"].get("resourceVersion", "")
        return self._table({"resourceVersion": version}, [self._row(record)])

    def page(self, page: Page) -> Response:
        """A page of objects."""
        found = {"continue": page.token, "remainingItemCount": page.remaining}
        meta = {"resourceVersion": str(page.version)} | {k: v for k, v in found.items() if v}
        if self._is_table:
            return json_response(self._table(meta, [self._row(r) for r in page.records]))
        head = {"kind": f"{self._resource.kind}List", "apiVersion": self._resource.api_version}
        # Items name no kind of their own, as upstream's typed lists do not.
        named = ("apiVersion", "kind")
        items = [{k: v for k, v in r.object.items() if k not in named} for r in page.records]
        return json_response({**head, "metadata": meta, "items": items})

    def bookmark(self, version: int, annotations: dict[str, str]) -> JsonObject:
        """An object that says: nothing is missing up to this version."""
        meta = {"resourceVersion": str(version), "creationTimestamp": None}
        kind = {"kind": self._resource.kind, "apiVersion": self._resource.api_version}
        mark = {**kind, "metadata": meta | ({"annotations": annotations} if annotations else {})}
        if not self._is_table:
            return mark
        cells = [None] * len(columns_of(self._resource))
        return self._table(meta, [{"cells": cells, "object": mark}])

    def _shown(self, record: Record) -> JsonObject:
        return {**record.object, "apiVersion": self._resource.api_version}

    def _table(self, meta: JsonObject, rows: list[JsonObject]) -> JsonObject:
        definitions, self._definitions = self._definitions, []
        head = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta}
        return {**head, "columnDefinitions": definitions, "rows": rows}

    def _row(self, record: Record) -> JsonObject:
        now, shown = self._clock.now(), self._shown(record)
        cells = [column.show(record.object, now) for column in columns_of(self._resource)]
        if self._row_object == "None":
            return {"cells": cells}
        if self._row_object == "Metadata":
            kind = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
            shown = {**kind, "metadata": record.object["metadata"]}
        return {"cells": cells, "object": shown}
