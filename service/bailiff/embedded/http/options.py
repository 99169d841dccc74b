"""The query of lists and watches (apimachinery/pkg/apis/meta/internalversion/validation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.errors import Cause
from bailiff.embedded.selectors import Selection, parse_fields, parse_labels

if TYPE_CHECKING:
    from bailiff.embedded.http.request import Request
    from bailiff.embedded.http.routes import Route

_NOT_OLDER, _EXACT = "NotOlderThan", "Exact"
_MATCH = "resourceVersionMatch"


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

    @property
    def exact(self) -> bool:
        """A list is to show exactly the version: said so, or a page at a named one."""
        if not self.version:
            return False
        return self.match == _EXACT or (not self.match and self.limit > 0)


def parse_query(request: Request, route: Route, *, watch: bool) -> Query:
    """Read and check it.

    Raises:
        ApiError: 400, not understood; 422, parameters that exclude each other.
    """
    fields = parse_fields(request.first("fieldSelector"), route.resource)
    if route.name:
        fields = (*fields, *parse_fields(f"metadata.name={route.name}", route.resource))
    initial = request.flag("sendInitialEvents") if "sendInitialEvents" in request.query else None
    query = Query(
        selection=Selection(route.namespace, parse_labels(request.first("labelSelector")), fields),
        version=_version(request.first("resourceVersion")),
        match=request.first(_MATCH),
        limit=request.number("limit") or 0,
        token=request.first("continue"),
        bookmarks=request.flag("allowWatchBookmarks"),
        initial_events=initial,
        timeout=request.number("timeoutSeconds"),
    )
    causes = _check_watch(query) if watch else _check_list(query)
    if causes:
        raise errors.invalid("meta.k8s.io", "ListOptions", "", causes)
    return query


def _version(text: str) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 19:
        cause = Cause.invalid("resourceVersion", text, "must be a number from 0 on")
        raise errors.invalid("meta.k8s.io", "ListOptions", "", [cause])
    return int(text)


def _check_list(query: Query) -> list[Cause]:
    causes = []
    if query.match:
        causes += _check_list_match(query)
    if query.initial_events is not None:
        text = "sendInitialEvents is forbidden for list"
        causes.append(Cause.forbidden("sendInitialEvents", text))
    if query.token and query.version:
        text = "specifying resource version is not allowed when using continue"
        raise errors.bad_request(text)
    return causes


def _check_list_match(query: Query) -> list[Cause]:
    causes = []
    if query.version is None:
        text = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        causes.append(Cause.forbidden(_MATCH, text))
    if query.token:
        text = "resourceVersionMatch is forbidden when continue is provided"
        causes.append(Cause.forbidden(_MATCH, text))
    if query.match not in (_EXACT, _NOT_OLDER):
        causes.append(Cause.not_supported(_MATCH, query.match, (_EXACT, _NOT_OLDER, "")))
    if query.match == _EXACT and query.version == 0:
        text = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        causes.append(Cause.forbidden(_MATCH, text))
    return causes


def _check_watch(query: Query) -> list[Cause]:
    causes = []
    if query.initial_events is not None and query.match != _NOT_OLDER:
        text = f"sendInitialEvents requires setting resourceVersionMatch to {_NOT_OLDER}"
        causes.append(Cause.forbidden(_MATCH, text))
    if query.match and query.initial_events is None:
        text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        causes.append(Cause.forbidden(_MATCH, text))
    if query.match not in ("", _NOT_OLDER):
        causes.append(Cause.not_supported(_MATCH, query.match, (_NOT_OLDER,)))
    return causes
