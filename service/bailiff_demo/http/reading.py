"""Reading requests: bodies, and the query of writes, lists and watches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from bailiff.kinds import DecodeError
from bailiff.kinds.yaml_text import parse_yaml
from bailiff_demo import errors
from bailiff_demo.errors import Cause
from bailiff_demo.http import protobuf
from bailiff_demo.objects import JsonObject, without_nulls
from bailiff_demo.selectors import Selection, parse_fields, parse_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from bailiff_demo.resources import Resource

MAX_DEPTH = 100
# Our YAML parser is slow, and others wait for it; JSON may be as long as any body.
MAX_YAML_BYTES = 64 * 1024
# Bytes of a manager's name, as kube-apiserver.
MAX_MANAGER = 128
JSON = "application/json"
_NOT_OLDER = "NotOlderThan"


async def read_body(request: Request, limit: int) -> bytes:
    """All of it.

    Raises:
        ApiError: 413, more than `limit` bytes.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise errors.too_large(limit)
    return bytes(body)


def media_type(request: Request, allowed: Sequence[str]) -> str:
    """The body's media type; the first one that is allowed where none is said.

    Raises:
        ApiError: 415, none of the allowed.
    """
    found = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if found and found not in allowed:
        raise errors.unsupported_media_type(allowed)
    return found or allowed[0]


async def read_object(request: Request, limit: int) -> JsonObject:
    """The body as an object without nulls: JSON, or the protobuf of some kubectl commands.

    Raises:
        ApiError: 400, malformed; 413, too large; 415, another media type.
    """
    language = media_type(request, (JSON, protobuf.MEDIA_TYPE))
    body = await read_body(request, limit)
    if language == protobuf.MEDIA_TYPE:
        return protobuf.decode(body)
    value = parse_json(body)
    if not isinstance(value, dict):
        raise errors.bad_request("the request body must be a JSON object")
    present: JsonObject = without_nulls(value)
    return present


def parse_json(raw: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """JSON as a value.

    Raises:
        ApiError: 400.
    """
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        message = f"the object provided is unrecognized (must be of type JSON): {error}"
        raise errors.bad_request(message) from error
    level = [value]
    for _ in range(MAX_DEPTH):
        lists = [i if isinstance(i, list) else [*i.values()] for i in level if _holds_more(i)]
        level = [item for items in lists for item in items]
    if level:
        raise errors.bad_request(f"the body nests deeper than {MAX_DEPTH} levels")
    return value


def _holds_more(value: object) -> bool:
    return isinstance(value, list | dict)


def parse_config(raw: bytes) -> JsonObject:
    """The body of an apply: JSON, or YAML of at most MAX_YAML_BYTES; without nulls.

    Raises:
        ApiError: 400, malformed or no object; 413, too long for YAML.
    """
    try:
        value = parse_json(raw)
    except errors.ApiError:
        if len(raw) > MAX_YAML_BYTES:
            raise errors.too_large(MAX_YAML_BYTES) from None
        try:
            # What YAML knows and JSON does not, such as infinity, is refused here.
            value = parse_json(msgspec.json.encode(parse_yaml(raw)))
        except (DecodeError, TypeError, ValueError, RecursionError) as error:
            raise errors.bad_request(f"error decoding YAML: {error}") from error
    if not isinstance(value, dict):
        raise errors.bad_request("error decoding YAML: the request body must be an object")
    present: JsonObject = without_nulls(value)
    return present


def flag(request: Request, name: str) -> bool:
    """A boolean query parameter, as Go's decoder reads it: anything but a no is a yes."""
    return request.query_params.get(name, "false") not in ("false", "0")


def number(request: Request, name: str) -> int | None:
    """A whole number from 0 on; None for none.

    Raises:
        ApiError: 400, another thing.
    """
    text = request.query_params.get(name, "")
    if not text:
        return None
    if not _is_number(text):
        raise errors.bad_request(f"{name}: {errors.quote(text)} is not a number from 0 on")
    return int(text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


def is_dry_run(request: Request) -> bool:
    """Whether nothing is to be written.

    Raises:
        ApiError: 422, a value other than All.
    """
    values = [value for value in request.query_params.getlist("dryRun") if value]
    if any(value != "All" for value in values):
        raise errors.invalid_option(
            "CreateOptions", Cause.not_supported("dryRun", values, ("All",))
        )
    return bool(values)


def manager_of(request: Request) -> str:
    """Who writes: `fieldManager`, else the User-Agent up to its first slash.

    Raises:
        ApiError: 422, the name is too long.
    """
    named = request.query_params.get("fieldManager", "")
    if len(named.encode()) > MAX_MANAGER:
        text = f"Too long: may not be more than {MAX_MANAGER} bytes"
        raise errors.invalid_option(
            "PatchOptions", Cause("FieldValueTooLong", "fieldManager", text)
        )
    agent = request.headers.get("user-agent", "").partition("/")[0]
    printable = "".join(char for char in agent if char.isprintable())
    return named or printable[:MAX_MANAGER] or "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a list or watch asks for.

    Attributes:
        selection: which objects.
        version: None for none named; 0 for any.
        match: `resourceVersionMatch`; may be empty.
        limit: 0 for none.
        token: `continue`.
        bookmarks: the client understands them.
        initial_events: `sendInitialEvents`; None if not said.
        timeout: seconds that a watch is to last; None if not said.
    """

    selection: Selection
    version: int | None
    match: str
    limit: int
    token: str
    bookmarks: bool
    initial_events: bool | None
    timeout: int | None


def parse_query(request: Request, resource: Resource, *, watch: bool) -> Query:
    """Read and check the query of a list or watch, of one object where the path names it.

    Raises:
        ApiError: 400, not understood; 422, parameters that exclude each other.
    """
    given, path = request.query_params, request.path_params
    fields = parse_fields(given.get("fieldSelector", ""), resource)
    if "name" in path:
        fields = (*fields, *parse_fields(f"metadata.name={path['name']}", resource))
    labels = parse_labels(given.get("labelSelector", ""))
    said = "sendInitialEvents" in given
    query = Query(
        selection=Selection(path.get("namespace"), labels, fields),
        version=_version(given.get("resourceVersion", "")),
        match=given.get("resourceVersionMatch", ""),
        limit=number(request, "limit") or 0,
        token=given.get("continue", ""),
        bookmarks=flag(request, "allowWatchBookmarks"),
        initial_events=flag(request, "sendInitialEvents") if said else None,
        timeout=number(request, "timeoutSeconds"),
    )
    if wrong := _wrong(query, watch=watch):
        raise errors.invalid_option("ListOptions", Cause.forbidden(*wrong))
    return query


def _version(text: str) -> int | None:
    if text and not _is_number(text):
        cause = Cause.invalid("resourceVersion", text, "must be a number from 0 on")
        raise errors.invalid_option("ListOptions", cause)
    return int(text) if text else None


def _wrong(query: Query, *, watch: bool) -> tuple[str, str] | None:
    """Which parameter is out of place, and why (apimachinery internalversion/validation)."""
    match, initial = "resourceVersionMatch", "sendInitialEvents"
    if query.initial_events is not None:
        if not watch:
            return initial, f"{initial} is forbidden for list"
        if query.match != _NOT_OLDER:
            return match, f"{initial} requires setting {match} to {_NOT_OLDER}"
    elif query.match and (watch or query.version is None):
        return match, f"goes with {initial} in a watch, with resourceVersion in a list"
    elif query.match not in ("", _NOT_OLDER):
        return match, f"must be {_NOT_OLDER}: states of the past are not kept"
    return None
