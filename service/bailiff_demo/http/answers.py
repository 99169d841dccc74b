"""Writing answers: objects, lists, tables, or only metadata, as the client accepts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
from starlette.responses import Response

from bailiff_demo import errors
from bailiff_demo.tables import Table, partial_metadata, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.requests import Request

    from bailiff.clock import Clock
    from bailiff_demo.objects import JsonObject
    from bailiff_demo.registry import Page
    from bailiff_demo.resources import Resource
    from bailiff_demo.storage import Record

Form: TypeAlias = Literal["object", "table", "metadata"]

encode = msgspec.json.Encoder().encode
_FORMS: dict[str, Form] = {
    "Table": "table",
    "PartialObjectMetadata": "metadata",
    "PartialObjectMetadataList": "metadata",
}


def json_response(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON value."""
    headers = {"cache-control": "no-cache, private", **(headers or {})}
    return Response(encode(value), status, headers, "application/json")


def media_ranges(request: Request) -> Iterator[tuple[str, dict[str, str]]]:
    """The media ranges of Accept with their parameters, in the client's order."""
    for clause in request.headers.get("accept", "*/*").split(","):
        media, *parameters = (token.strip() for token in clause.split(";"))
        pairs = (parameter.partition("=") for parameter in parameters)
        yield media.lower(), {name: value for name, _, value in pairs}


def choose_form(request: Request) -> Form:
    """The first form that the client accepts and we have.

    Raises:
        ApiError: 406, there is none.
    """
    for media, parameters in media_ranges(request):
        if media not in ("application/json", "application/*", "*/*"):
            continue
        wanted = parameters.get("as")
        if wanted is None:
            return "object"
        if wanted in _FORMS and parameters.get("v") == "v1":
            return _FORMS[wanted]
    raise errors.not_acceptable()


class Answers:
    """Answers about one resource in the form that the client accepts.

    Attributes:
        form: see there.
        table: for the form of that name.
    """

    def __init__(self, request: Request, resource: Resource, clock: Clock) -> None:
        """Choose the form.

        Raises:
            ApiError: 406, the client accepts none.
        """
        self.form = choose_form(request)
        self.table = Table(resource, clock, request.query_params.get("includeObject", "Metadata"))
        self._resource = resource

    def record(self, record: Record, status: int = 200) -> Response:
        """One object."""
        return json_response(self.one(record), status)

    def one(self, record: Record) -> JsonObject:
        """One object, as JSON."""
        if self.form == "table":
            meta = {"resourceVersion": record.object["metadata"].get("resourceVersion", "")}
            return self.table.of([record], meta)
        if self.form == "metadata":
            return partial_metadata(record)
        return shown(self._resource, record)

    def page(self, page: Page) -> Response:
        """A page of objects."""
        found: dict[str, object] = {
            "resourceVersion": str(page.version),
            "continue": page.token,
            "remainingItemCount": page.remaining,
        }
        meta = {name: value for name, value in found.items() if value}
        if self.form == "table":
            return json_response(self.table.of(page.records, meta))
        head = {"kind": f"{self._resource.kind}List", "apiVersion": self._resource.api_version}
        item = _without_kind
        if self.form == "metadata":
            head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
            item = partial_metadata
        items = [item(record) for record in page.records]
        return json_response({**head, "metadata": meta, "items": items})


def _without_kind(record: Record) -> JsonObject:
    """An item of a list: upstream's typed lists name the kind once."""
    return {k: v for k, v in record.object.items() if k not in ("apiVersion", "kind")}
