"""`validate/evictions`: every eviction asks the gate, whoever wants it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bailiff.kinds import Eviction
from bailiff.webhooks.gate import COUNTING, Departure
from bailiff.webhooks.hook import ALLOWED, EVICTION, Hook, HookError, Outcome, refused

if TYPE_CHECKING:
    from bailiff.kinds import Pod
    from bailiff.kinds.admission_review import AdmissionRequest
    from bailiff.webhooks.gate import Gate
    from bailiff.webhooks.gate_facts import GateFacts
    from bailiff.webhooks.parts import HookParts

# What is put to a generateName (apimachinery pkg/util/rand, String).
_DRAWN = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}\Z")
# Kubernetes' own controllers that draw a name for every pod, by group and kind. Others may make a
# pod again under a name that looks drawn, as OpenKruise's CloneSet does for volumes that it keeps.
_DRAWING = frozenset(
    {("", "ReplicationController"), ("apps", "ReplicaSet"), ("apps", "DaemonSet"), ("batch", "Job")}
)


class ValidateEvictions(Hook):
    """The gate for `kubectl drain`, Karpenter, descheduler, autoscaler: whoever evicts."""

    path = "validate/evictions"
    summary = "May this pod be evicted now?"
    description = (
        "On CREATE of `pods/eviction`. Refuses with 429 and Retry-After what the policies hold: a "
        "pause, a closed window, a protected pod, a breaker, a gang, a budget over time; with 403 "
        "what no waiting ends, as an excluded pod. Pods that have ended or are terminating, and "
        "mirror pods, may always go. A dry run is counted nowhere."
    )
    targets = frozenset({EVICTION})
    allows_unanswered = False
    patience = COUNTING

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
        name = _said("name", request.name or eviction.metadata.name)
        namespace = _said("namespace", request.namespace or eviction.metadata.namespace)

        preconditions = None if options is None else options.preconditions
        uid = (preconditions.uid if preconditions is not None else None) or ""

        async def find(facts: GateFacts) -> Departure | Outcome:
            pod = await facts.pod(namespace, name)
            if uid:
                # Of another pod: made for one that is gone, and refused by the API server.
                is_meant = pod is not None and pod.metadata.uid == uid
                return Departure(pod if is_meant else None)
            if pod is None:
                return _not_found(name)
            return Departure(pod, by_name=not has_name_of_its_own(pod))

        return await self._gate.judge(find, deadline, dry_run=dry_run)


def has_name_of_its_own(pod: Pod) -> bool:
    """Whether no other pod will have its name: a controller has drawn it by lot.

    Pods of a StatefulSet come again under the same name, and so may those that people name. The
    API server looks for the pod by its name, seconds after it has asked the webhooks.
    """
    owners = [one for one in pod.metadata.owner_references if one.controller]
    by_lot = [(one.api_version.rpartition("/")[0], one.kind) in _DRAWING for one in owners]
    return any(by_lot) and all(by_lot) and _DRAWN.search(pod.metadata.name) is not None


def _said(field: str, text: str) -> str:
    if not text:
        raise HookError(f"request.{field}: required, and empty")
    return text


def _not_found(name: str) -> Outcome:
    """As the API server says itself, where no pod of this name comes until it looks."""
    return refused(404, "NotFound", f'pods "{name}" not found')
