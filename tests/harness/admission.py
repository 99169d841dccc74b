"""Hooks in an application, and AdmissionReviews as kube-apiserver sends them."""

import base64
import json
from collections.abc import Awaitable, Callable
from math import inf
from typing import Any

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from bailiff.access import Guard
from bailiff.clock import Clock, SystemClock
from bailiff.decisions import SYSTEMS, Options
from bailiff.kinds import decode
from bailiff.kinds.admission_review import AdmissionRequest
from bailiff.lookup import AllNodes, Source
from bailiff.rest_api import RestSettings, create_app
from bailiff.serving import ByteBudget, Gate
from bailiff.webhooks import (
    Admission,
    AdmissionMetrics,
    AdmissionSettings,
    Hook,
    HookParts,
    ObjectReader,
    Outcome,
    hooks_of,
)
from tests.harness.faces.asgi import call

UID = "705ab4f5-6393-11e8-b7cc-42010a800002"
SETTINGS = AdmissionSettings(
    exempt_users=frozenset({"bailiff"}), exempt_namespaces=frozenset({"bailiff-system"})
)

Said = Callable[[AdmissionRequest, float], Awaitable[Outcome]]


class Scripted(Hook):
    """Says what a test wants it to say."""

    path = "validate/pods"
    summary, description = "A hook", "It is made up."
    targets = frozenset({"pods", "pods/binding"})

    def __init__(self, said: Outcome | Exception | Said, *, allows_unanswered: bool = True) -> None:
        self._said = said
        self.allows_unanswered = allows_unanswered
        self.asked: list[AdmissionRequest] = []

    async def review(self, request: AdmissionRequest, deadline: float) -> Outcome:
        self.asked.append(request)
        if isinstance(self._said, Exception):
            raise self._said
        return (
            self._said if isinstance(self._said, Outcome) else await self._said(request, deadline)
        )


def parts_of(
    source: Source | None = None,
    settings: AdmissionSettings = SETTINGS,
    clock: Clock | None = None,
    **parts: Any,
) -> HookParts:
    """What hooks work with, to make one of; `parts` are those for the gate."""
    threads, clock = RestSettings().threads(ByteBudget()), clock or SystemClock()
    return HookParts(
        settings=settings,
        clock=clock,
        systems=SYSTEMS,
        options=Options(),
        objects=ObjectReader(threads),
        threads=threads,
        source=source,
        nodes=AllNodes(source, clock) if source else None,
        **parts,
    )


def hooks(settings: AdmissionSettings = SETTINGS) -> tuple[Hook, ...]:
    """All that a process without a cluster has."""
    return hooks_of(parts_of(settings=settings))


def app_of(
    *hooks: Hook,
    source: Source | None = None,
    registry: CollectorRegistry | None = None,
    clock: Clock | None = None,
    guard: Guard | None = None,
    gate: Gate | None = None,
    **settings: Any,
) -> FastAPI:
    """An application with these hooks; none: with all of a process."""
    registry, clock = registry or CollectorRegistry(), clock or SystemClock()
    asked = hooks or hooks_of(parts_of(source, clock=clock))
    admission = Admission(asked, SETTINGS, clock, AdmissionMetrics(registry))
    given = (RestSettings(**settings), clock, registry, Options(), source)
    return create_app(*given, guard=guard, admission=admission, gate=gate)


async def review(
    hook: Hook, request: dict[str, Any], deadline: float = inf, clock: Clock | None = None
) -> Outcome:
    """What a hook makes of a request, with no HTTP between; as long as it takes."""
    metrics = AdmissionMetrics(CollectorRegistry())
    admission = Admission((hook,), SETTINGS, clock or SystemClock(), metrics)
    given = decode(json.dumps(request).encode(), AdmissionRequest)
    return await admission.review(hook, given, deadline)


def request_of(**fields: Any) -> dict[str, Any]:
    return {
        "uid": UID,
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "name": "web",
        "namespace": "shop",
        "operation": "CREATE",
        "userInfo": {"username": "ada", "groups": ["dev"], "extra": {"a": ["b"]}},
        "object": {"kind": "Pod", "spec": {"containers": [{"name": "web"}]}},
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        **fields,
    }


def review_of(**fields: Any) -> dict[str, Any]:
    return {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": request_of(**fields),
    }


async def ask(app: FastAPI, hook: str = "validate/pods", query: str = "", **fields: Any) -> Any:
    answer = await call(app, "POST", f"/admission/v1/{hook}{query}", review_of(**fields))
    assert answer.status == 200, answer.body
    whole = answer.json
    assert (whole["apiVersion"], whole["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert whole["response"]["uid"] == fields.get("uid", UID)
    return whole["response"]


def patch_of(response: Any) -> Any:
    assert response["patchType"] == "JSONPatch"
    return json.loads(base64.b64decode(response["patch"]))
