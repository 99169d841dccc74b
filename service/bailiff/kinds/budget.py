"""PodDisruptionBudgets (k8s.io/api/policy/v1/types.go) and the selectors they choose pods by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bailiff.kinds.meta import Int32, Int64, KubernetesObject, ObjectMeta, Value

if TYPE_CHECKING:
    from bailiff.kinds.pod import Pod


class LabelSelectorRequirement(Value, frozen=True):
    """One condition on labels; one whose operator is not known is met by nobody.

    Attributes:
        key: of the label.
        operator: `In`, `NotIn`, `Exists` or `DoesNotExist`.
        values: for In and NotIn.
    """

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()

    def is_met_by(self, labels: Mapping[str, str]) -> bool:
        """As in apimachinery, pkg/labels/selector.go: NotIn is met where there is no such label."""
        match self.operator:
            case "In":
                return self.key in labels and labels[self.key] in self.values
            case "NotIn":
                return labels.get(self.key) not in self.values
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels
            case _:
                return False


class LabelSelector(Value, frozen=True):
    """Chooses objects by their labels (apimachinery pkg/apis/meta/v1/types.go).

    Attributes:
        match_labels: labels that all have to be there.
        match_expressions: further conditions, which all have to be met.
    """

    match_labels: Mapping[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Whether all conditions are met; one without any selects everything."""
        return all(labels.get(key) == value for key, value in self.match_labels.items()) and all(
            one.is_met_by(labels) for one in self.match_expressions
        )


class PodDisruptionBudgetSpec(Value, frozen=True):
    """What a budget is meant to do.

    Attributes:
        selector: the pods of its namespace that it protects; absent: none.
        unhealthy_pod_eviction_policy: `AlwaysAllow`: pods that are not ready may always be evicted;
            `IfHealthyBudget`, as where it is absent: while enough others are ready.
    """

    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str = ""


class PodDisruptionBudgetStatus(Value, frozen=True):
    """How things are, as the disruption controller has found.

    Attributes:
        observed_generation: of the budget that it found them for.
        disruptions_allowed: how many of the pods may be disrupted now.
        current_healthy: how many of them are ready.
        desired_healthy: how many of them have to be.
        disrupted_pods: by their names, those whose eviction the API server has let through and
            whose end the controller has not seen yet; `disruptions_allowed` is without them.
    """

    observed_generation: Int64 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    disruptions_allowed: Int32 = 0
    disrupted_pods: Mapping[str, str | None] = {}


class PodDisruptionBudget(KubernetesObject, frozen=True):
    """How many of some pods may be disrupted at a time (policy/v1 PodDisruptionBudget).

    Attributes:
        metadata: its identity.
        spec: whom it protects.
        status: what it allows.
    """

    metadata: ObjectMeta = ObjectMeta()
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()

    @property
    def allowed(self) -> int:
        """How many evictions the Eviction API would let through now.

        0 while the disruption controller has not seen the budget as it is
        (pkg/registry/core/pod/storage/eviction.go, checkAndDecrement).
        """
        if self.status.observed_generation < self.metadata.generation:
            return 0
        return max(self.status.disruptions_allowed, 0)

    def lets_unready_go(self) -> bool:
        """Whether pods of it that are not ready may go, whatever it allows.

        Source: pkg/registry/core/pod/storage/eviction.go, Create.
        """
        if self.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
            return True
        status = self.status
        return status.current_healthy >= status.desired_healthy > 0

    def protects(self, pod: Pod) -> bool:
        """Whether the pod is one of its own."""
        selector = self.spec.selector
        return (
            selector is not None
            and pod.metadata.namespace == self.metadata.namespace
            and selector.selects(pod.metadata.labels)
        )
