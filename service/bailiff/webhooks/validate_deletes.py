"""`validate/deletes`: deletes of pods ask the gate where an account that evicts by them makes them.

Most who delete pods evict nobody: controllers scale down and roll out, collectors clear away what
has no owner, kubelets end what has ended. So only accounts that the settings name are asked, and
some of these never, whatever the settings say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.kinds import DeleteOptions, Pod
from bailiff.kinds.accounts import CONTROLLER_MANAGER, NODE_CONTROLLER, controller, is_kubelet
from bailiff.kinds.admission_review import is_absent
from bailiff.webhooks.gate import COUNTING, Departure
from bailiff.webhooks.hook import ALLOWED, Hook, HookError, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.kinds.admission_review import AdmissionRequest
    from bailiff.webhooks.gate import Gate
    from bailiff.webhooks.gate_facts import GateFacts
    from bailiff.webhooks.parts import HookParts

_CONTROLLERS = frozenset(
    map(
        controller,
        (
            "cronjob-controller",
            "daemon-set-controller",
            "deployment-controller",
            "generic-garbage-collector",
            "job-controller",
            "namespace-controller",
            "pod-garbage-collector",
            "replicaset-controller",
            "replication-controller",
            "statefulset-controller",
            "ttl-after-finished-controller",
        ),
    )
)
# The node controller tries to evict by a taint five times within 50 ms, and then forgets the pod.
# kube-controller-manager's account stands for all controllers where they have none of their own.
# Nobody asks again for what the scheduler preempts.
_NEVER = frozenset(
    {NODE_CONTROLLER, CONTROLLER_MANAGER, "system:apiserver", "system:kube-scheduler"}
)
# The chart refuses the same ones.
NEVER_GATED = _CONTROLLERS | _NEVER


class NeverGatedError(ValueError):
    """An account that must never be held is named among those that are."""


def check_gated(users: Iterable[str]) -> None:
    """Raise NeverGatedError for the first whose deletes are no evictions."""
    for user in users:
        if is_never_gated(user):
            raise NeverGatedError(
                f"{user} must not be held: it deletes pods to scale, to roll out or to clear away, "
                "or tries no more than once"
            )


def is_never_gated(user: str) -> bool:
    """Whether an account deletes pods for other reasons than to evict them."""
    return is_kubelet(user) or user in NEVER_GATED


class ValidateDeletes(Hook):
    """The gate for those who evict by deleting."""

    path = "validate/deletes"
    summary = "May this account delete this pod now?"
    description = (
        "On DELETE of `pods`, for the accounts of `--gate-delete-user` alone: as "
        "`validate/evictions`. Deletes by force (`gracePeriodSeconds: 0`) are never held, nor "
        "those of workload controllers, collectors and kubelets."
    )
    targets = frozenset({"pods"})
    allows_unanswered = False
    patience = COUNTING

    def __init__(self, parts: HookParts, gate: Gate) -> None:
        """Ask this gate; raises NeverGatedError."""
        self._objects, self._gate = parts.objects, gate
        self._users = parts.settings.gate_delete_users
        check_gated(sorted(self._users))

    async def review(self, request: AdmissionRequest, deadline: float) -> Outcome:
        """See Hook."""
        if request.operation != "DELETE" or request.user_info.username not in self._users:
            return ALLOWED
        options = DeleteOptions()
        if not is_absent(request.options):
            options = await self._objects.read(request.options, DeleteOptions, "options")
        pod = await self._objects.read(request.old_object, Pod, "oldObject")
        if not pod.metadata.namespace:
            raise HookError("request.oldObject.metadata.namespace: required, and empty")
        if options.grace_period_seconds == 0 and not _ends_at_once(pod):
            # By force.
            return ALLOWED

        async def find(_facts: GateFacts) -> Departure:
            # Where it runs nowhere nobody is evicted.
            return Departure(pod if pod.spec.node_name else None, by_eviction=False)

        return await self._gate.judge(find, deadline, dry_run=request.dry_run)


def _ends_at_once(pod: Pod) -> bool:
    """Whether its own grace period is 0: so webhooks are told of each delete of it.

    kube-apiserver fills in the pod's own grace period before it asks them
    (pkg/registry/core/pod/strategy.go, CheckGracefulDelete).
    """
    return pod.spec.termination_grace_period_seconds == 0
