"""Questions over gRPC that are as hard as they can be, up to every limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc
import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, given, settings, target

from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import kubernetes_pb2 as core
from bailiff.v1 import resource_pb2 as resource

if TYPE_CHECKING:
    from tests.acceptance.gaps.finding import Found
    from tests.acceptance.gaps.server import Served

MIB = 1024 * 1024
LONG = "k" * 317


def _device_pod(number: int) -> core.Pod:
    claim = core.PodResourceClaim(name="x", resource_claim_name="c")
    meta = core.ObjectMeta(name=f"p{number}")
    return core.Pod(metadata=meta, spec=core.PodSpec(node_name="n", resource_claims=[claim]))


def _claim(number: int, *, one_device: bool) -> resource.ResourceClaim:
    device = "d" if one_device else f"d{number}"
    results = [resource.DeviceRequestAllocationResult(driver="x", pool="p", device=device)]
    devices = resource.DeviceAllocationResult(results=results)
    return resource.ResourceClaim(
        metadata=core.ObjectMeta(name=f"c{number}"),
        status=resource.ResourceClaimStatus(allocation=resource.AllocationResult(devices=devices)),
    )


def _slice(number: int, *, one_device: bool) -> resource.ResourceSlice:
    taint = resource.DeviceTaint(key="k", effect="NoExecute")
    taint.time_added.GetCurrentTime()
    device = resource.Device(name="d" if one_device else f"d{number}", taints=[taint])
    pool = resource.ResourcePool(name="p", generation=1)
    spec = resource.ResourceSliceSpec(driver="x", pool=pool, devices=[device])
    return resource.ResourceSlice(metadata=core.ObjectMeta(name=f"s{number}"), spec=spec)


PODS = {
    "empty pods": lambda _: core.Pod(),
    "pods that tolerate": lambda i: core.Pod(
        metadata=core.ObjectMeta(name=f"p{i}"),
        spec=core.PodSpec(
            tolerations=[core.Toleration(key=f"k{i}", operator="Exists", toleration_seconds=9)]
        ),
    ),
    "pods with many empty tolerations": lambda i: core.Pod(
        metadata=core.ObjectMeta(name=f"p{i}"),
        spec=core.PodSpec(tolerations=[core.Toleration()] * 2000),
    ),
    "pods with conditions": lambda i: core.Pod(
        status=core.PodStatus(conditions=[core.PodCondition(type=f"t{i}-{j}") for j in range(50)])
    ),
    "pods with labels": lambda i: core.Pod(
        metadata=core.ObjectMeta(labels={f"l{i}-{j}": "x" for j in range(50)})
    ),
    "users of one claim": _device_pod,
}
TAINTS = {
    "no taint": lambda _: None,
    "short taints": lambda i: core.Taint(key=f"k{i}", effect="NoExecute"),
    "taints with long keys": lambda i: core.Taint(key=f"{i:08}{LONG[8:]}", effect="NoExecute"),
    "taints that do not evict": lambda i: core.Taint(key=f"k{i}", effect="NoSchedule"),
}
DEVICES: dict[str, Any] = {
    "no devices": None,
    "a device each": False,
    "one device for all": True,
}


class Asked:
    """A message for DecideBatch, and what it is in words."""

    def __init__(
        self, pods: str, pod_bytes: int, taints: str, number: int, devices: str, *, explain: bool
    ) -> None:
        self.words = f"DecideBatch {pods}, {number} {taints}, {devices}, explain={explain}"
        request = pb.DecideBatchRequest(options=pb.Options(explain=explain))
        one = PODS[pods](0).ByteSize() + 4
        request.pods.extend(PODS[pods](i) for i in range(min(25_000, pod_bytes // one)))
        made = [TAINTS[taints](i) for i in range(number)]
        if DEVICES[devices] is None or made[:1] != [None]:
            request.node.spec.taints.extend(taint for taint in made if taint is not None)
            request.node.metadata.name = "n"
        if DEVICES[devices] is not None:
            told, one_device = request.device_taints, DEVICES[devices]
            count = max(1, len(request.pods))
            told.resource_claims.extend(_claim(i, one_device=one_device) for i in range(count))
            told.resource_slices.extend(_slice(i, one_device=one_device) for i in range(count))
        self.data: bytes = request.SerializeToString()
        self.words += f" ({len(request.pods):,} pods, {len(self.data):,} bytes)"


asked = st.builds(
    Asked,
    st.sampled_from(sorted(PODS)),
    st.integers(1, 5 * MIB),
    st.sampled_from(sorted(TAINTS)),
    st.integers(1, 12_000),
    st.sampled_from(sorted(DEVICES)),
    explain=st.booleans(),
)


def ask(served: Served, question: Asked) -> tuple[float, str]:
    """Seconds by which the latest tick came late, and what the answer was."""
    unlimited = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(f"127.0.0.1:{served.ports.grpc}", unlimited) as channel:
        call: Any = channel.unary_unary("/bailiff.v1.EvictionDecisionService/DecideBatch")
        served.longest_gap()
        try:
            came = f"OK, {len(call(question.data, timeout=60)):,} bytes"
        except grpc.RpcError as error:
            came = f"{error.code()}"
        return served.longest_gap(), came


def search(served: Served, found: Found, number: int) -> None:
    """Look for the hardest of so many messages."""

    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
    )
    @given(asked)
    def look(question: Asked) -> None:
        target(found.measure(lambda: ask(served, question), question.words))

    look()
