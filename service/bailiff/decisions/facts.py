"""What a caller tells: the one set of questions behind REST, gRPC and the command line.

REST decodes a body straight into these types, gRPC fills them from protobuf, so that the same
facts cannot be read in two ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta
from msgspec.structs import asdict, replace

from bailiff.decisions.bounds import (
    MAX_CLAIMS,
    MAX_PODS,
    MAX_RULES,
    MAX_SLICES,
    FactsError,
    check_comparisons,
    check_devices,
    check_node,
)
from bailiff.kinds import DeviceTaintRule, Node, Pod, ResourceClaim, ResourceSlice, Taint, Time
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from bailiff.decisions.bounds import DeviceObjects

# Kubernetes objects of devices as a question brings them.
Claims = Annotated[tuple[ResourceClaim, ...], Meta(max_length=MAX_CLAIMS)]
Slices = Annotated[tuple[ResourceSlice, ...], Meta(max_length=MAX_SLICES)]
Rules = Annotated[tuple[DeviceTaintRule, ...], Meta(max_length=MAX_RULES)]


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
        node: its node. Without it the taints of devices alone decide, so those are required then.
        resource_claims: the claims that the pod names, and maybe others. Where claims, slices
            or rules are given, the taints of devices count too.
        resource_slices: the slices that publish the devices of those claims, and maybe others.
        device_taint_rules: the rules of the cluster.
        now: the instant to decide for; absent: the server's clock.
        bound_at: when the pod was bound; absent: read from the pod.
        first_observed: when taints without timeAdded were first seen; one that is not told
            is read from the node (annotation, managedFields), and else counts as added now.
        options: what to do otherwise than the server is set.
    """

    pod: Pod
    node: Node | None = None
    resource_claims: Claims = ()
    resource_slices: Slices = ()
    device_taint_rules: Rules = ()
    now: Time | None = None
    bound_at: Time | None = None
    first_observed: tuple[TaintObservation, ...] = ()
    options: OptionOverrides = NO_OVERRIDES

    def check(self) -> None:
        """Refuse what cannot be answered in bounded time, or at all.

        Raises:
            FactsError: no system has what it needs, or too much to compare.
        """
        devices = has_devices(self)
        if self.node is not None:
            check_node(self.node.spec.taints, (self.pod,))
        elif not devices:
            raise FactsError("$.node", "required: there is nothing else to decide from")
        if devices:
            # One pod is explained unless the caller says no.
            check_devices(self, (self.pod,), explain=self.options.explain is not False)


class NodeTaintFacts(Value, frozen=True):
    """One pod and its node.

    Attributes:
        pod: the pod. Without `spec.nodeName` the question is "what if it ran there from now on".
        node: its node.
        now: the instant to decide for; absent: the server's clock.
        bound_at: when the pod was bound; absent: read from the pod.
        first_observed: when taints without timeAdded were first seen; one that is not told
            is read from the node (annotation, managedFields), and else counts as added now.
        options: what to do otherwise than the server is set.
    """

    pod: Pod
    node: Node
    now: Time | None = None
    bound_at: Time | None = None
    first_observed: tuple[TaintObservation, ...] = ()
    options: OptionOverrides = NO_OVERRIDES

    def widened(self) -> Facts:
        """The same question to every system that these facts reach."""
        return Facts(
            pod=self.pod,
            node=self.node,
            now=self.now,
            bound_at=self.bound_at,
            first_observed=self.first_observed,
            options=self.options,
        )


class NodeFacts(Value, frozen=True):
    """A node and pods to decide for on it; each answer as if asked alone.

    Attributes:
        node: the node.
        pods: the pods, at most 1,000.
        resource_claims: the claims that the pods name, and maybe others. Where claims, slices or
            rules are given, the taints of devices count too.
        resource_slices: the slices that publish the devices of those claims, and maybe others.
        device_taint_rules: the rules of the cluster.
        now: the instant to decide for; absent: the server's clock.
        first_observed: when taints without timeAdded were first seen; one that is not told
            is read from the node (annotation, managedFields), and else counts as added now.
        options: what to do otherwise than the server is set; no trace unless asked for.
    """

    node: Node
    pods: Annotated[tuple[Pod, ...], Meta(max_length=MAX_PODS)]
    resource_claims: Claims = ()
    resource_slices: Slices = ()
    device_taint_rules: Rules = ()
    now: Time | None = None
    first_observed: tuple[TaintObservation, ...] = ()
    options: OptionOverrides = NO_OVERRIDES

    def check(self) -> None:
        """Refuse what cannot be answered in bounded time.

        Raises:
            FactsError: too much to compare.
        """
        check_node(self.node.spec.taints, self.pods)
        if has_devices(self):
            check_devices(self, self.pods, explain=self.options.explain is True)


class NodeTaintBatchFacts(Value, frozen=True):
    """A node and pods to decide for on it; each answer as if asked alone.

    Attributes:
        node: the node.
        pods: the pods, at most 1,000.
        now: the instant to decide for; absent: the server's clock.
        first_observed: when taints without timeAdded were first seen; one that is not told
            is read from the node (annotation, managedFields), and else counts as added now.
        options: what to do otherwise than the server is set; no trace unless asked for.
    """

    node: Node
    pods: Annotated[tuple[Pod, ...], Meta(max_length=MAX_PODS)]
    now: Time | None = None
    first_observed: tuple[TaintObservation, ...] = ()
    options: OptionOverrides = NO_OVERRIDES

    def widened(self) -> NodeFacts:
        """The same question to every system that these facts reach."""
        return NodeFacts(
            node=self.node,
            pods=self.pods,
            now=self.now,
            first_observed=self.first_observed,
            options=self.options,
        )


class TaintChangeFacts(Value, frozen=True):
    """A node, its pods, and taints to add or remove: whose answer would change?

    Attributes:
        node: the node as it is.
        pods: its pods, at most 1,000.
        add_taints: one of the same key and effect is replaced.
        remove_taints: goes first, so that a taint may be removed and added anew.
        now: the instant to decide for; absent: the server's clock.
        first_observed: when taints without timeAdded were first seen; one that is not told
            is read from the node (annotation, managedFields), and else counts as added now.
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
        check_comparisons(len(taints) * (len(self.add_taints) + len(self.remove_taints)))
        check_node(taints, self.pods)


def has_devices(facts: DeviceObjects) -> bool:
    """Whether the facts reach the system of device taints."""
    return bool(facts.resource_claims or facts.resource_slices or facts.device_taint_rules)
