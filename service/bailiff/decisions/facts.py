"""What a caller tells: the one set of questions behind REST, gRPC and the command line.

REST decodes a body straight into these types, gRPC fills them from protobuf, so that the same
facts cannot be read in two ways.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict, replace

from bailiff.kinds import NO_EXECUTE, Node, Pod, Taint, Time
from bailiff.kinds.meta import Value

# Pods in one question. A kubelet runs 110 by default.
MAX_PODS = 1000
# Toleration-taint comparisons that one question may cost at worst, about 0.1 s of work, in which
# the server does nothing else.
MAX_COMPARISONS = 200_000


class FactsError(ValueError):
    """A question that cannot be asked.

    Attributes:
        path: the field at fault, as `$.node`.
        reason: what is wrong and what is allowed.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class Options(Value, frozen=True):
    """Settings of the decision. The defaults are those of Kubernetes but for the named repairs.

    Attributes:
        comparison_operators: the gate TaintTolerationComparisonOperators (operators Lt and Gt).
        evict_ended_pods: evict finished and terminating pods too, as kube-controller-manager does.
        explain: give the trace.
        extended_resource_claims: taints count too on devices that a pod has by way of extended
            resources (`status.extendedResourceClaimStatus`), unlike for kube-controller-manager.
        pod_group_claims: the gate DRAWorkloadResourceClaims: a claim that is reserved for the pod's
            PodGroup, or was made for it, is the pod's too.
    """

    comparison_operators: bool = False
    evict_ended_pods: bool = False
    explain: bool = True
    extended_resource_claims: bool = True
    pod_group_claims: bool = False


DEFAULT_OPTIONS = Options()


class OptionOverrides(Value, frozen=True):
    """What a caller wants otherwise than the server is set; absent: as the server is set.

    Attributes:
        comparison_operators: see Options.
        evict_ended_pods: see Options.
        explain: give the trace. Absent: for one pod yes, for many no.
        extended_resource_claims: see Options.
        pod_group_claims: see Options.
    """

    comparison_operators: bool | None = None
    evict_ended_pods: bool | None = None
    explain: bool | None = None
    extended_resource_claims: bool | None = None
    pod_group_claims: bool | None = None

    def over(self, defaults: Options) -> Options:
        """The server's options with these laid over them."""
        if self is NO_OVERRIDES:
            return defaults
        wanted = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(defaults, **wanted) if wanted else defaults


NO_OVERRIDES = OptionOverrides()


class TaintObservation(Value, frozen=True):
    """When a taint that carries no timeAdded was first seen on the node.

    Attributes:
        key: of the taint.
        effect: of the taint.
        time: when it was first seen.
        value: of the taint.
    """

    key: str
    effect: str
    time: Time
    value: str = ""


class TaintSelector(Value, frozen=True):
    """A taint to take away, as `kubectl taint node NODE KEY:EFFECT-`.

    Attributes:
        key: of the taint.
        effect: of the taint; empty: any.
    """

    key: str
    effect: str = ""


class Facts(Value, frozen=True):
    """One pod and what is known around it.

    Attributes:
        pod: the pod. Without `spec.nodeName` the question is "what if it ran there from now on".
        node: its node. Required until there are systems that decide without it.
        now: the instant to decide for; absent: the server's clock.
        bound_at: when the pod was bound; absent: read from the pod.
        first_observed: when taints without timeAdded were first seen; one that is not told
            is looked up in the node's annotation, and else counts as added now.
        options: what to do otherwise than the server is set.
    """

    pod: Pod
    node: Node | None = None
    now: Time | None = None
    bound_at: Time | None = None
    first_observed: tuple[TaintObservation, ...] = ()
    options: OptionOverrides = NO_OVERRIDES

    def check(self) -> None:
        """Refuse what cannot be answered in bounded time, or at all.

        Raises:
            FactsError: no system has what it needs, or too much to compare.
        """
        if self.node is None:
            raise FactsError("$.node", "required: there is nothing else to decide from")
        _check_size(self.node.spec.taints, (self.pod,))


class NodeFacts(Value, frozen=True):
    """A node and pods to decide for on it; each answer as if asked alone.

    Attributes:
        node: the node.
        pods: the pods, at most 1,000.
        now: the instant to decide for; absent: the server's clock.
        first_observed: when taints without timeAdded were first seen; one that is not told
            is looked up in the node's annotation, and else counts as added now.
        options: what to do otherwise than the server is set; no trace unless asked for.
    """

    node: Node
    pods: Annotated[tuple[Pod, ...], Meta(max_length=MAX_PODS)]
    now: Time | None = None
    first_observed: tuple[TaintObservation, ...] = ()
    options: OptionOverrides = NO_OVERRIDES

    def check(self) -> None:
        """Refuse what cannot be answered in bounded time.

        Raises:
            FactsError: too much to compare.
        """
        _check_size(self.node.spec.taints, self.pods)


class TaintChangeFacts(Value, frozen=True):
    """A node, its pods, and taints to add or remove: whose answer would change?

    Attributes:
        node: the node as it is.
        pods: its pods, at most 1,000.
        add_taints: one of the same key and effect is replaced.
        remove_taints: goes first, so that a taint may be removed and added anew.
        now: the instant to decide for; absent: the server's clock.
        first_observed: when taints without timeAdded were first seen; one that is not told
            is looked up in the node's annotation, and else counts as added now.
        options: what to do otherwise than the server is set; no trace unless asked for.
    """

    node: Node
    pods: Annotated[tuple[Pod, ...], Meta(max_length=MAX_PODS)]
    add_taints: tuple[Taint, ...] = ()
    remove_taints: tuple[TaintSelector, ...] = ()
    now: Time | None = None
    first_observed: tuple[TaintObservation, ...] = ()
    options: OptionOverrides = NO_OVERRIDES

    def check(self) -> None:
        """Refuse what cannot be answered in bounded time, or changes nothing.

        Raises:
            FactsError: no change named, or too much to compare.
        """
        if not self.add_taints and not self.remove_taints:
            raise FactsError("$.addTaints", "at least one of addTaints, removeTaints is required")
        taints = self.node.spec.taints + self.add_taints
        # Merging compares every present taint with every change.
        _check_count(len(taints) * (len(self.add_taints) + len(self.remove_taints)))
        _check_size(taints, self.pods)


def _check_size(taints: tuple[Taint, ...], pods: tuple[Pod, ...]) -> None:
    evicting = sum(taint.effect == NO_EXECUTE for taint in taints)
    _check_count(evicting * sum(len(pod.spec.tolerations) for pod in pods))


def _check_count(comparisons: int) -> None:
    if comparisons > MAX_COMPARISONS:
        raise FactsError(
            "$.node.spec.taints",
            f"needs {comparisons} comparisons of taints, at most {MAX_COMPARISONS} are allowed",
        )
