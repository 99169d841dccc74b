"""A request as an API server reads it: whom it is about, and what guards it carries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import msgspec

from bailiff.cluster import Request

_PATH = re.compile(
    r"/(?:api|apis/[^/]+)/[^/]+/(?:namespaces/(?P<namespace>[^/]+)/)?"
    r"(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<subresource>[^/]+))?"
)

_VERBS = {
    ("GET", "pods", ""): "get",
    ("GET", "nodes", ""): "get",
    ("PATCH", "pods", "status"): "patch",
    ("DELETE", "pods", ""): "delete",
    ("POST", "pods", "eviction"): "evict",
    ("PATCH", "nodes", ""): "annotate",
    ("PATCH", "nodes", "status"): "publish",
    ("POST", "events", ""): "record",
    ("PATCH", "devicetaintrules", "status"): "apply",
}


@dataclass(frozen=True)
class Call:
    """One request.

    Attributes:
        at: second of the world's time.
        verb: what is asked for: get, patch, delete and evict of pods, annotate of nodes, publish of
            their status, record of Events, apply of the status of DeviceTaintRules.
        namespace: "" where there is none.
        plural: of the resource.
        name: of the object.
        body: decoded; {} where there is none.
        query: parameters.
    """

    at: float
    verb: str
    namespace: str
    plural: str
    name: str
    body: dict[str, Any]
    query: dict[str, str]

    @property
    def uid(self) -> str:
        """The UID that the request holds for; "" for any."""
        return str(self._guards.get("uid", ""))

    @property
    def version(self) -> str:
        """The resourceVersion that the request holds for; "" for any."""
        return str(self._guards.get("resourceVersion", ""))

    @property
    def _guards(self) -> dict[str, Any]:
        if self.verb == "delete":
            return dict(self.body.get("preconditions", {}))
        if self.verb == "evict":
            return dict(self.body.get("deleteOptions", {}).get("preconditions", {}))
        return dict(self.body.get("metadata", {}))

    @property
    def conditions(self) -> list[dict[str, Any]]:
        """The conditions that a patch of the status carries."""
        return list(self.body.get("status", {}).get("conditions", []))

    @property
    def step(self) -> str:
        """The verb, or which part of it this is.

        A patch without conditions is a look, or writes the phase; one that announces no eviction is
        a reset; a delete that only asks is a try.
        """
        if self.verb == "patch" and not self.conditions and self.body.get("status"):
            return "phase"
        if self.verb == "patch" and all(c["status"] != "True" for c in self.conditions):
            return "reset" if self.conditions else "look"
        return "try" if self.verb == "delete" and self.is_dry_run else self.verb

    @property
    def is_dry_run(self) -> bool:
        """Whether everything is to be checked and nothing done."""
        return self.query.get("dryRun") == "All" or self.body.get("dryRun") == ["All"]


def read(request: Request, at: float) -> Call:
    """Read a request that comes at that second; KeyError for what the worlds do not serve."""
    found = _PATH.fullmatch(request.path)
    assert found is not None, request.path
    parts = {key: unquote(value or "") for key, value in found.groupdict().items()}
    verb = _VERBS[request.method, parts["plural"], parts.pop("subresource")]
    body = msgspec.json.decode(request.body) if request.body else {}
    return Call(at=at, verb=verb, body=body, query=request.query, **parts)
