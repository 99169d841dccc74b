"""`validate/evictions`: every eviction asks the gate, whoever wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.kinds import Eviction
from bailiff.webhooks.hook import ALLOWED, Hook, Outcome

if TYPE_CHECKING:
    from bailiff.kinds import DeleteOptions, Pod
    from bailiff.kinds.admission_review import AdmissionRequest
    from bailiff.webhooks.gate import Gate
    from bailiff.webhooks.gate_facts import GateFacts
    from bailiff.webhooks.parts import HookParts


class ValidateEvictions(Hook):
    """The gate for `kubectl drain`, Karpenter, descheduler, autoscaler: whoever evicts."""

    path = "validate/evictions"
    summary = "May this pod be evicted now?"
    description = (
        "On CREATE of `pods/eviction`. Refuses with 429 and Retry-After what the policies hold: a "
        "pause, a closed window, a protected pod, a breaker, a gang, a budget over time; with 403 "
        "what they exclude for good. Pods that have ended or are terminating, and mirror pods, may "
        "always go. A dry run is counted nowhere."
    )
    targets = frozenset({"pods/eviction"})
    allows_unanswered = False

    def __init__(self, parts: HookParts, gate: Gate) -> None:
        """Ask this gate."""
        self._objects, self._gate = parts.objects, gate

    async def review(self, request: AdmissionRequest, deadline: float) -> Outcome:
        """See Hook."""
        if request.operation != "CREATE":
            return ALLOWED
        eviction = await self._objects.read(request.object, Eviction)
        options = eviction.delete_options
        # kube-apiserver tells webhooks of the dryRun of the query, and not of the eviction's own.
        dry_run = request.dry_run or (options is not None and bool(options.dry_run))
        name = request.name or eviction.metadata.name

        async def find(facts: GateFacts) -> Pod | None:
            pod = await facts.pod(request.namespace, name)
            return None if pod is None or is_outdated(pod, options) else pod

        return await self._gate.judge(find, deadline, dry_run=dry_run)


def is_outdated(pod: Pod, options: DeleteOptions | None) -> bool:
    """Whether the request is for another pod or version than the one that was read just now.

    It was made before that, so that it cannot come true any more: the API server refuses it.
    """
    wanted = None if options is None else options.preconditions
    if wanted is None:
        return False
    metadata = pod.metadata
    return wanted.uid not in (None, "", metadata.uid) or wanted.resource_version not in (
        None,
        "",
        metadata.resource_version,
    )
