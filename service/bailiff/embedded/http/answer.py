"""Writing answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bailiff.embedded.http.negotiation import choose_form
from bailiff.embedded.tables import partial_metadata, table_body
from bailiff.embedded.views import from_storage, same_fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Send

    from bailiff.clock import Clock
    from bailiff.embedded.errors import ApiError
    from bailiff.embedded.http.request import Request
    from bailiff.embedded.objects import JsonObject
    from bailiff.embedded.registry import Page
    from bailiff.embedded.resources import Resource
    from bailiff.embedded.storage import Record

encode = msgspec.json.Encoder().encode


async def send_body(
    send: Send,
    status: int,
    body: bytes,
    content_type: str = "application/json",
    headers: Iterable[tuple[str, str]] = (),
) -> None:
    """One whole answer."""
    lines = [
        (b"content-type", content_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-cache, private"),
        *((name.encode(), value.encode()) for name, value in headers),
    ]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body})


async def send_json(send: Send, value: object, status: int = 200) -> None:
    """A JSON value."""
    await send_body(send, status, encode(value))


async def send_error(send: Send, error: ApiError) -> None:
    """A refusal, with Retry-After where it has one."""
    headers = [("retry-after", str(error.retry_after))] if error.retry_after else []
    await send_body(send, error.code, encode(error.status()), headers=headers)


class Answer:
    """Objects and lists in the form that the client accepts."""

    def __init__(self, request: Request, resource: Resource, clock: Clock, send: Send) -> None:
        """Choose the form.

        Raises:
            ApiError: 406, the client accepts none.
        """
        self.form = choose_form(request.header("accept"))
        self.include_object = request.first("includeObject") or "Metadata"
        self._resource = resource
        self._clock = clock
        self.send = send

    async def record(self, record: Record, status: int = 200) -> None:
        """One object."""
        await send_body(self.send, status, self._record_body(record))

    def _record_body(self, record: Record) -> bytes:
        if self.form == "object":
            return object_body(self._resource, record)
        if self.form == "metadata":
            return encode(partial_metadata(record.object))
        meta = {"resourceVersion": record.object["metadata"].get("resourceVersion", "")}
        return table_body(self._resource, [record], meta, self._clock, self.include_object)

    async def page(self, page: Page) -> None:
        """A page of objects."""
        await send_body(self.send, 200, self._page_body(page))

    def _page_body(self, page: Page) -> bytes:
        meta = list_meta(page)
        if self.form == "object":
            return list_body(self._resource, page)
        if self.form == "metadata":
            items = [partial_metadata(record.object) for record in page.records]
            kind = "PartialObjectMetadataList"
            listed = {
                "kind": kind,
                "apiVersion": "meta.k8s.io/v1",
                "metadata": meta,
                "items": items,
            }
            return encode(listed)
        return table_body(self._resource, page.records, meta, self._clock, self.include_object)


def object_body(resource: Resource, record: Record) -> bytes:
    """The object as this resource shows it."""
    head = b'{"kind":"%s","apiVersion":"%s",' % (
        resource.kind.encode(),
        resource.api_version.encode(),
    )
    return head + item_body(resource, record)[1:]


def item_body(resource: Resource, record: Record) -> bytes:
    """The object as an item of a list: without apiVersion and kind."""
    if same_fields(resource):
        return record.body
    shown = from_storage(resource, record.object)
    return encode({k: v for k, v in shown.items() if k not in ("apiVersion", "kind")})


def list_body(resource: Resource, page: Page) -> bytes:
    """A page of objects."""
    head = {
        "kind": f"{resource.kind}List",
        "apiVersion": resource.api_version,
        "metadata": list_meta(page),
    }
    items = b",".join(item_body(resource, record) for record in page.records)
    return encode(head)[:-1] + b',"items":[' + items + b"]}"


def list_meta(page: Page) -> JsonObject:
    """metav1.ListMeta."""
    meta: JsonObject = {"resourceVersion": str(page.version)}
    if page.token:
        meta["continue"] = page.token
    if page.remaining is not None:
        meta["remainingItemCount"] = page.remaining
    return meta
