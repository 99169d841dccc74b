"""Requests as values: what is to be sent, before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bailiff.cluster.resource import PatchType, Resource

JSON = "application/json"
Body: TypeAlias = "Mapping[str, Any] | list[Any] | bytes | None"


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request to the API server.

    `body` stays out of the repr: it may hold what nobody should read in a log. `allowed` is asked
    right before the request leaves; where it says no, nothing is sent (FencedError).
    """

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    body: bytes | None = field(default=None, repr=False)
    content_type: str = JSON
    accept: str = JSON
    allowed: Callable[[], bool] | None = field(default=None, repr=False, compare=False)

    @property
    def what(self) -> str:
        """The request in words, for errors."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which objects of a resource.

    Attributes:
        namespace: "" for all.
        field_selector: as `spec.nodeName=a`.
        label_selector: as `app=web`.
    """

    namespace: str = ""
    field_selector: str = ""
    label_selector: str = ""

    def query(self) -> dict[str, str]:
        """The selectors as query parameters."""
        return _present(fieldSelector=self.field_selector, labelSelector=self.label_selector)


def encode(body: Body) -> bytes | None:
    """JSON for a body that is not bytes already."""
    return body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)


def page(
    resource: Resource[Any], selection: Selection, limit: int, continue_token: str = ""
) -> Request:
    """One page of a list."""
    query = selection.query() | {"limit": str(limit)} | _present(**{"continue": continue_token})
    return Request("GET", resource.path(selection.namespace), query)


def watch(
    resource: Resource[Any], selection: Selection, timeout: int, resource_version: str
) -> Request:
    """A watch that continues from a version.

    Raises:
        ValueError: no version; such a watch would begin anywhere.
    """
    if not resource_version:
        raise ValueError("a watch needs a version to go on from")
    query = selection.query() | {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": str(timeout),
        "resourceVersion": resource_version,
    }
    return Request("GET", resource.path(selection.namespace), query)


def watch_from_start(resource: Resource[Any], selection: Selection, timeout: int) -> Request:
    """A watch that sends all objects first, then a marked bookmark (KEP-3157)."""
    query = selection.query() | {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": str(timeout),
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
    }
    return Request("GET", resource.path(selection.namespace), query)


def patch(path: str, body: Body, patch_type: PatchType, **options: str) -> Request:
    """A patch; `options` are query parameters, empty ones are left out."""
    return Request("PATCH", path, _present(**options), encode(body), patch_type.value)


def create(path: str, body: Body, **options: str) -> Request:
    """A creation; `options` are query parameters, empty ones are left out."""
    return Request("POST", path, _present(**options), encode(body))


def replace(path: str, body: Body) -> Request:
    """A whole object in place of another; a resourceVersion in it is a precondition."""
    return Request("PUT", path, {}, encode(body))


def delete(
    path: str,
    *,
    uid: str = "",
    resource_version: str = "",
    grace_period_seconds: int | None = None,
    dry_run: bool = False,
) -> Request:
    """A deletion with its preconditions."""
    options = _delete_options(uid, resource_version, grace_period_seconds)
    if dry_run:
        options["dryRun"] = ["All"]
    return Request("DELETE", path, {}, encode(options))


def evict(
    path: str,
    name: str,
    namespace: str,
    uid: str = "",
    resource_version: str = "",
    *,
    grace_period_seconds: int | None = None,
    dry_run: bool = False,
) -> Request:
    """An eviction (policy/v1) with the preconditions of a deletion."""
    body = {
        "kind": "Eviction",
        "apiVersion": "policy/v1",
        "metadata": {"name": name, "namespace": namespace},
        "deleteOptions": _delete_options(uid, resource_version, grace_period_seconds),
    }
    return create(path, body, dryRun=dry_run_value(dry_run))


def _delete_options(
    uid: str, resource_version: str, grace_period_seconds: int | None
) -> dict[str, Any]:
    preconditions = _present(uid=uid, resourceVersion=resource_version)
    options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1"}
    if preconditions:
        options["preconditions"] = preconditions
    if grace_period_seconds is not None:
        options["gracePeriodSeconds"] = grace_period_seconds
    return options


def dry_run_value(dry_run: bool) -> str:
    """The query parameter's value."""
    return "All" if dry_run else ""


def _present(**values: str) -> dict[str, str]:
    return {key: value for key, value in values.items() if value}
