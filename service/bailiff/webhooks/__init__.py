"""The hooks that kube-apiserver's admission webhooks call.

A hook reads what it needs, asks the core, and says what becomes of a request. How a call comes in
and its answer goes out is the REST face's (`rest_api/routers/admission.py`). A new hook is a file
here and a line in `hooks_of`.
"""

from __future__ import annotations

from bailiff.webhooks.admission import Admission
from bailiff.webhooks.hook import ALLOWED, Hook, HookError, ObjectReader, Outcome, Refusal, refused
from bailiff.webhooks.metrics import AdmissionMetrics
from bailiff.webhooks.mutate_pods import MutatePods
from bailiff.webhooks.parts import HookParts
from bailiff.webhooks.settings import AdmissionSettings

__all__ = [
    "ALLOWED",
    "Admission",
    "AdmissionMetrics",
    "AdmissionSettings",
    "Hook",
    "HookError",
    "HookParts",
    "ObjectReader",
    "Outcome",
    "Refusal",
    "hooks_of",
    "refused",
]


def hooks_of(parts: HookParts) -> tuple[Hook, ...]:
    """All hooks of a process."""
    return (MutatePods(parts),)
