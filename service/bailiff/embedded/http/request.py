"""A request as the handlers want it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import msgspec

from bailiff.embedded import errors
from bailiff.embedded.objects import JsonObject, without_nulls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Receive, Scope

MAX_DEPTH = 100
MAX_QUERY_FIELDS = 100
# Bytes of a manager's name, as kube-apiserver.
MAX_MANAGER = 128
JSON_TYPES = ("application/json",)


class Request:
    """One request.

    Attributes:
        method: as `GET`.
        path: decoded.
        query: every parameter's values.
    """

    def __init__(self, scope: Scope, receive: Receive, max_body: int) -> None:
        self.scope = scope
        self.receive = receive
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self._headers: dict[bytes, bytes] = dict(scope["headers"])
        self._max_body = max_body
        try:
            text = scope["query_string"].decode()
            self.query = parse_qs(text, keep_blank_values=True, max_num_fields=MAX_QUERY_FIELDS)
        except (UnicodeDecodeError, ValueError) as error:
            raise errors.bad_request(f"the query is not understood: {error}") from error

    def header(self, name: str) -> str:
        """The header's value; empty for none."""
        return self._headers.get(name.encode(), b"").decode("latin-1")

    def first(self, name: str) -> str:
        """The query parameter's first value; empty for none."""
        values = self.query.get(name)
        return values[0] if values else ""

    def flag(self, name: str) -> bool:
        """A boolean query parameter, as Go's decoder reads it: anything but a no is a yes."""
        values = self.query.get(name)
        return values is not None and values[0] not in ("false", "0")

    def number(self, name: str) -> int | None:
        """A whole number from 0 on; None for none.

        Raises:
            ApiError: 400, another thing.
        """
        text = self.first(name)
        if not text:
            return None
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise errors.bad_request(f"{name}: {errors.quote(text)} is not a number from 0 on")
        return int(text)

    def dry_run(self) -> bool:
        """Whether nothing is to be written.

        Raises:
            ApiError: 422, a value other than All.
        """
        values = [value for value in self.query.get("dryRun", []) if value]
        if any(value != "All" for value in values):
            cause = errors.Cause.not_supported("dryRun", values, ("All",))
            raise errors.invalid("meta.k8s.io", "CreateOptions", "", [cause])
        return bool(values)

    def manager(self, options: str) -> str:
        """Who writes: `fieldManager`, else the User-Agent up to its first slash.

        Args:
            options: of the verb, as `PatchOptions`, for the refusal.

        Raises:
            ApiError: 422, the name is too long.
        """
        named = self.first("fieldManager")
        if len(named.encode()) > MAX_MANAGER:
            text = f"Too long: may not be more than {MAX_MANAGER} bytes"
            cause = errors.Cause("FieldValueTooLong", "fieldManager", text)
            raise errors.invalid("meta.k8s.io", options, "", [cause])
        agent = self.header("user-agent").partition("/")[0]
        printable = "".join(char for char in agent if char.isprintable())
        return named or printable[:MAX_MANAGER] or "unknown"

    async def body(self) -> bytes:
        """All of it.

        Raises:
            ApiError: 413, more than the server takes.
        """
        length = self.header("content-length")
        if length.isdigit() and len(length) < 20 and int(length) > self._max_body:
            raise errors.too_large(self._max_body)
        chunks, size = [], 0
        while True:
            message = await self.receive()
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > self._max_body:
                raise errors.too_large(self._max_body)
            chunks.append(chunk)
            if not message.get("more_body", False):
                return b"".join(chunks)

    def media_type(self, allowed: Sequence[str]) -> str:
        """The body's media type; JSON where none is said and JSON is allowed.

        Raises:
            ApiError: 415, none of the allowed.
        """
        found = self.header("content-type").partition(";")[0].strip().lower()
        if not found and allowed[0] == "application/json":
            return allowed[0]
        if found not in allowed:
            raise errors.unsupported_media_type(found, allowed)
        return found

    async def value(self, allowed: Sequence[str] = JSON_TYPES) -> Any:  # noqa: ANN401 - any JSON value
        """The body, parsed; None if it is empty.

        Raises:
            ApiError: 400, malformed; 413, too large; 415, another media type.
        """
        raw = await self.body()
        if not raw.strip():
            return None
        self.media_type(allowed)
        return parse(raw)

    async def object(self) -> JsonObject:
        """The body, which must be a JSON object; its nulls are left out.

        Raises:
            ApiError: as value().
        """
        value = await self.value()
        if not isinstance(value, dict):
            raise errors.bad_request("the request body must be a JSON object")
        present: JsonObject = without_nulls(value)
        return present


def parse(raw: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """JSON as a value.

    Raises:
        ApiError: 400.
    """
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        message = f"the object provided is unrecognized (must be of type JSON): {error}"
        raise errors.bad_request(message) from error
    if _depth(value) > MAX_DEPTH:
        raise errors.bad_request(f"the body nests deeper than {MAX_DEPTH} levels")
    return value


def _depth(value: Any) -> int:  # noqa: ANN401 - any JSON value
    """How deep it nests, without recursing."""
    depth, level = 0, [value]
    while level and depth <= MAX_DEPTH:
        depth += 1
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        level = below
    return depth
