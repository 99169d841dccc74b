"""Reviews to try, as kube-apiserver sends them. Where no cluster is read, answers are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from bailiff.decisions.admission import AdmittedPod, Mutations, patch_of
from bailiff.webhooks import ALLOWED, Outcome, refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.webhooks import Hook


class Example(NamedTuple):
    """A request to a hook, and what comes of it.

    Attributes:
        request: of the review.
        outcome: as the hook has it; where it reads a cluster, as it may have it.
    """

    request: Mapping[str, Any]
    outcome: Outcome


_POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]},
}
_CREATE_POD = {
    "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
    "kind": {"group": "", "version": "v1", "kind": "Pod"},
    "resource": {"group": "", "version": "v1", "resource": "pods"},
    "name": "web",
    "namespace": "default",
    "operation": "CREATE",
    "userInfo": {"username": "ada"},
    "object": _POD,
    "dryRun": False,
}

_EVICT_POD = _CREATE_POD | {
    "kind": {"group": "policy", "version": "v1", "kind": "Eviction"},
    "subResource": "eviction",
    "object": {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "web", "namespace": "default"},
    },
}
_DELETE_POD = {key: value for key, value in _CREATE_POD.items() if key != "object"} | {
    "operation": "DELETE",
    "userInfo": {"username": "system:serviceaccount:karpenter:karpenter"},
    "oldObject": _POD,
    "options": {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions"},
}
_PAUSED = refused(
    429,
    "TooManyRequests",
    "policy paused: paused by anna until 2026-01-31T14:00:00Z: moving racks",
    2,
)

# By the hook's path.
EXAMPLES: Mapping[str, Example] = {
    "mutate/pods": Example(
        _CREATE_POD, Outcome(patch=patch_of(msgspec.convert(_POD, AdmittedPod), Mutations()))
    ),
    "validate/evictions": Example(_EVICT_POD, _PAUSED),
    "validate/deletes": Example(_DELETE_POD, _PAUSED),
}
# Of a hook that has none.
_ANY = Example(_CREATE_POD, ALLOWED)


def example_of(hook: Hook) -> Example:
    """One to try."""
    return EXAMPLES.get(hook.path, _ANY)


def review_of(hook: Hook) -> dict[str, Any]:
    """The whole review of the example."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": example_of(hook).request,
    }
