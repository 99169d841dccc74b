"""What a kube-apiserver answers where it refuses, and the errors that the client makes of it."""

from __future__ import annotations

from typing import Any

import msgspec

from bailiff.cluster import StatusError
from bailiff.cluster.status import error_of
from tests.harness.worlds.calls import Call


def not_found(call: Call) -> StatusError:
    """There is none of that name (apimachinery pkg/api/errors, NewNotFound)."""
    details = {"name": call.name, "kind": call.plural}
    return _refusal(call, 404, "NotFound", f'{call.plural} "{call.name}" not found', details)


def other_uid(call: Call, uid: str) -> StatusError:
    """The precondition of a delete (apiserver pkg/registry/rest/delete.go)."""
    why = f"the UID in the precondition ({call.uid}) does not match the UID in record ({uid})"
    return _conflict(call, why)


def other_uid_in_patch(call: Call, uid: str) -> StatusError:
    """metadata.uid does not change (apimachinery pkg/api/validation/objectmeta.go)."""
    cause = {"reason": "FieldValueInvalid", "message": "immutable", "field": "metadata.uid"}
    details = {"name": call.name, "kind": "Pod", "causes": [cause]}
    message = f'Pod "{call.name}" is invalid: metadata.uid: field is immutable: not {uid}'
    return _refusal(call, 422, "Invalid", message, details)


def other_version(call: Call, version: str) -> StatusError:
    """The same file as for a UID; a patch is answered in other words, with the same code."""
    why = (
        f"the ResourceVersion in the precondition ({call.version}) does not match the "
        f"ResourceVersion in record ({version})"
    )
    return _conflict(call, why)


def budget(call: Call, words: str) -> StatusError:
    """A PodDisruptionBudget forbids it (kubernetes pkg/registry/core/pod/storage/eviction.go)."""
    details = {"causes": [{"reason": "DisruptionBudget", "message": words}]}
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return _refusal(call, 429, "TooManyRequests", message, details)


def denied(call: Call, code: int) -> StatusError:
    """An admission webhook says no, with a code that it chooses and without a reason
    (apiserver pkg/admission/plugin/webhook/errors/statuserror.go)."""
    message = 'admission webhook "guard.example.com" denied the request: not now'
    return _refusal(call, code, "", message, {})


def _conflict(call: Call, why: str) -> StatusError:
    details = {"name": call.name, "kind": call.plural}
    message = f'Operation cannot be fulfilled on {call.plural} "{call.name}": {why}'
    return _refusal(call, 409, "Conflict", message, details)


def _refusal(
    call: Call, code: int, reason: str, message: str, details: dict[str, Any]
) -> StatusError:
    status = {"status": "Failure", "reason": reason, "message": message, "code": code}
    return error_of(call.verb, code, msgspec.json.encode(status | {"details": details}))
