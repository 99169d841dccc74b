"""`validate/pods` and `validate/bindings`: a pod comes to a node.

Only what puts a pod on a node is looked at: pods that run already are none of their business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions import FactsError, NotRead, Scene, Wanted, Why
from bailiff.decisions.admission.telling import signed, warning_of
from bailiff.decisions.criticality import is_mirror
from bailiff.kinds import Node, Pod
from bailiff.kinds.admission_review import is_absent
from bailiff.kinds.binding import Binding
from bailiff.kinds.meta import as_served
from bailiff.lookup import drive
from bailiff.webhooks.hook import ALLOWED, Hook, Outcome, refused

if TYPE_CHECKING:
    from bailiff.decisions.seen import Seen
    from bailiff.kinds.admission_review import AdmissionRequest
    from bailiff.webhooks.parts import HookParts
    from bailiff.webhooks.sight import Sight


class ValidatePods(Hook):
    """A pod that is created on a node: how kubelets, and people with `nodeName`, do it."""

    path = "validate/pods"
    summary = "May the pod start on its node, and would it stay?"
    targets = frozenset({"pods"})

    def __init__(self, parts: HookParts, sight: Sight) -> None:
        """Prepare."""
        self._parts, self._placement = parts, _Placement(parts, sight)
        self.description = _DESCRIPTION.format(what="`spec.nodeName` of a pod that is created")

    async def review(self, request: AdmissionRequest, deadline: float) -> Outcome:
        """See Hook."""
        if request.operation not in ("CREATE", "UPDATE"):
            return ALLOWED
        pod = await self._parts.objects.read(request.object, Pod)
        # A mirror pod shows one that its kubelet has started already.
        if not pod.spec.node_name or is_mirror(pod) or await self._runs_there(request):
            return ALLOWED
        pod = _as_asked(pod, request)
        return _signed(await self._placement.judge(pod, pod.spec.node_name, deadline), pod)

    async def _runs_there(self, request: AdmissionRequest) -> bool:
        if is_absent(request.old_object):
            return False
        old = await self._parts.objects.read(request.old_object, Pod, "oldObject")
        return bool(old.spec.node_name)


class ValidateBindings(Hook):
    """A pod that a scheduler puts on a node."""

    path = "validate/bindings"
    summary = "May the pod start on the node that a scheduler has chosen, and would it stay?"
    targets = frozenset({"pods/binding", "bindings"})

    def __init__(self, parts: HookParts, sight: Sight) -> None:
        """Prepare."""
        self._parts, self._sight = parts, sight
        self._placement = _Placement(parts, sight)
        self.description = _DESCRIPTION.format(what="the Binding that a scheduler posts")

    async def review(self, request: AdmissionRequest, deadline: float) -> Outcome:
        """See Hook."""
        if request.operation != "CREATE":
            return ALLOWED
        binding = await self._parts.objects.read(request.object, Binding)
        if binding.target.kind not in ("", "Node") or not binding.target.name:
            return ALLOWED
        name = request.name or binding.metadata.name
        # At the same time: the node is looked at for every pod.
        _, found = await self._sight.see(
            (_node(binding.target.name), Wanted(Pod, request.namespace, (name,))), deadline
        )
        if isinstance(found, NotRead):
            return Outcome(warnings=(signed(_not_looked_at(found.detail), f"pod {name}"),))
        pods = [one for one in found if isinstance(one, Pod)]
        uid = binding.metadata.uid
        # Of another pod, or of one that is bound, the API server says what is wrong.
        if not pods or pods[0].spec.node_name or uid not in ("", pods[0].metadata.uid):
            return ALLOWED
        judged = await self._placement.judge(pods[0], binding.target.name, deadline)
        return _signed(judged, pods[0])


class _Placement:
    """A pod on a node on which it does not run yet."""

    def __init__(self, parts: HookParts, sight: Sight) -> None:
        self._parts, self._sight = parts, sight

    async def judge(self, pod: Pod, name: str, deadline: float) -> Outcome:
        """Refused where the node's kubelet would not start it; warned of where it would not stay.

        Args:
            pod: the pod.
            name: of the node.
            deadline: see Hook.
        """
        (found,) = await self._sight.see((_node(name),), deadline)
        if isinstance(found, NotRead):
            return Outcome(warnings=(_not_looked_at(found.detail),))
        node = next((one for one in found if isinstance(one, Node)), None)
        if node is None:
            return Outcome(warnings=(f"node {name} does not exist",))
        barred = self._parts.systems.not_admitted(pod, node, self._parts.options)
        if barred is not None:
            return refused(403, "Forbidden", _barred(name, barred.message))
        return await self._warned(pod, node, deadline)

    async def _warned(self, pod: Pod, node: Node, deadline: float) -> Outcome:
        # Time on the node counts from now, whenever the pod was made.
        free = replace(pod, spec=replace(pod.spec, node_name=""))
        scene = Scene((free,), self._parts.clock.now(), node)
        options, systems = replace(self._parts.options, explain=False), self._parts.systems
        seeing = _Seeing(self._sight, deadline)
        parts = [
            (system, await drive(looking, seeing))
            for system, looking in systems.look_ups(scene, options)
        ]
        try:
            plan = systems.weigh_seen_pod(scene, parts, options)
        except FactsError as error:
            return Outcome(warnings=(_not_looked_at(str(error)),))
        told = warning_of((await self._parts.carry_out(plan, "placement")).decision)
        return Outcome(warnings=(*((told,) if told else ()), *seeing.unseen))


class _Seeing:
    """What systems see of the cluster, as a hook sees it.

    Kubelets are not asked: that may take longer than anybody waits for a pod to be bound.

    Attributes:
        unseen: what could not be looked at, as warnings.
    """

    def __init__(self, sight: Sight, deadline: float) -> None:
        self._sight, self._deadline = sight, deadline
        self.unseen: list[str] = []

    async def see(self, wanted: Wanted) -> Seen:
        (found,) = await self._sight.see((wanted,), self._deadline)
        if isinstance(found, NotRead) and found.why is not Why.NOT_SERVED:
            self.unseen.append(_not_looked_at(found.detail))
        return found

    async def ask_kubelet(self, _node: Node) -> Seen:
        return NotRead(Why.NOT_ASKED, "kubelets are not asked")


def _node(name: str) -> Wanted:
    return Wanted(Node, names=(name,))


def _as_asked(pod: Pod, request: AdmissionRequest) -> Pod:
    """As its kubelet would have it from the API server."""
    meta = pod.metadata
    namespace = meta.namespace or request.namespace
    annotations = as_served(meta.annotations)
    return replace(pod, metadata=replace(meta, namespace=namespace, annotations=annotations))


def _barred(name: str, message: str) -> str:
    return f"the kubelet of node {name} would not start the pod: {message.strip()}"


def _not_looked_at(detail: str) -> str:
    return f"not looked at: {detail}"


def _signed(outcome: Outcome, pod: Pod) -> Outcome:
    # The API server has not made up the name yet where only generateName is given.
    about = f"pod {pod.metadata.name}" if pod.metadata.name else "a new pod"
    return replace(outcome, warnings=tuple(signed(one, about) for one in outcome.warnings))


_DESCRIPTION = (
    "Looks at {what}. Refuses a pod that the node's kubelet would not start, by the "
    "kubelet's own rules; warns where the taints of the node, or of devices, would evict it from "
    "there, and when."
)
