"""The hooks that kube-apiserver's admission webhooks call.

A hook reads what it needs, asks the core, and says what becomes of a request. How a call comes in
and its answer goes out is the REST face's (`rest_api/routers/admission.py`). A new hook is a file
here and a line in `hooks_of`.
"""

from __future__ import annotations

from bailiff.kinds import DeviceTaintRule, Node, ResourceSlice
from bailiff.webhooks.admission import Admission
from bailiff.webhooks.gate import Gate
from bailiff.webhooks.hook import ALLOWED, Hook, HookError, ObjectReader, Outcome, Refusal, refused
from bailiff.webhooks.metrics import AdmissionMetrics
from bailiff.webhooks.mutate_pods import MutatePods
from bailiff.webhooks.parts import HookParts
from bailiff.webhooks.settings import AdmissionSettings
from bailiff.webhooks.sight import Sight
from bailiff.webhooks.validate_changes import DEVICES, ValidateChanges
from bailiff.webhooks.validate_deletes import NeverGatedError, ValidateDeletes
from bailiff.webhooks.validate_evictions import ValidateEvictions
from bailiff.webhooks.validate_placement import ValidateBindings, ValidatePods

__all__ = [
    "ALLOWED",
    "Admission",
    "AdmissionMetrics",
    "AdmissionSettings",
    "Hook",
    "HookError",
    "HookParts",
    "NeverGatedError",
    "ObjectReader",
    "Outcome",
    "Refusal",
    "hooks_of",
    "refused",
]


def hooks_of(parts: HookParts) -> tuple[Hook, ...]:
    """All hooks of a process."""
    sight, gate = Sight(parts.source, parts.nodes, parts.clock), Gate(parts)
    return (
        MutatePods(parts),
        ValidatePods(parts, sight),
        ValidateBindings(parts, sight),
        ValidateChanges(parts, sight, Node, "nodes"),
        ValidateChanges(parts, sight, DeviceTaintRule, "devicetaintrules", DEVICES),
        ValidateChanges(parts, sight, ResourceSlice, "resourceslices", DEVICES),
        ValidateEvictions(parts, gate),
        ValidateDeletes(parts, gate),
    )
