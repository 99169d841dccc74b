"""`mutate/pods`: the tolerations that pods are given on their way into the API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.admission import AdmittedPod, patch_of
from bailiff.webhooks.hook import ALLOWED, Hook, Outcome

if TYPE_CHECKING:
    from bailiff.decisions.admission import PatchOperation
    from bailiff.kinds.admission_review import AdmissionRequest
    from bailiff.webhooks.parts import HookParts

_OPERATIONS = frozenset({"CREATE", "UPDATE"})


class MutatePods(Hook):
    """Reads nothing but the request, so that it answers at once."""

    path = "mutate/pods"
    summary = "Which tolerations is this pod to have?"
    description = (
        "A JSON Patch of `spec.tolerations`, as kube-apiserver's plugins DefaultTolerationSeconds "
        "and ExtendedResourceToleration and the DaemonSet controller would change them, on CREATE "
        "and UPDATE. Asked again about the patched pod it changes nothing."
    )
    targets = frozenset({"pods"})
    exempts = False

    def __init__(self, parts: HookParts) -> None:
        """Take the settings."""
        self._objects, self._mutations = parts.objects, parts.settings.mutations

    async def review(self, request: AdmissionRequest, deadline: float) -> Outcome:  # noqa: ARG002 - nothing is waited for
        """See Hook."""
        if request.operation not in _OPERATIONS:
            return ALLOWED
        patch = await self._objects.make(request.object, AdmittedPod, self._patch)
        return Outcome(patch=patch) if patch else ALLOWED

    def _patch(self, pod: AdmittedPod) -> tuple[PatchOperation, ...]:
        return patch_of(pod, self._mutations)
