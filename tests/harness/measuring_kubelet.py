"""A kubelet of one node that measures what a test says its pods use, and does nothing else."""

from __future__ import annotations

import ipaddress
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from bailiff.bootstrap.pressure import Pressing
from bailiff.cluster import PatchType
from bailiff.cluster.kubelets import KubeletSettings, ReaderSettings, ViaApiServer
from bailiff.decisions.text import describe_time
from bailiff.worker.systems.pressure.settings import PressureMode
from tests.harness.api import NODES, name_of, uid_of
from tests.harness.fake_kubelet import answering, fake_kubelet
from tests.harness.kube.tls import make_tls

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from bailiff.clock import Clock
    from tests.harness.api import Bench
    from tests.harness.fake_kubelet import Behaviour
    from tests.harness.objects import Object

MIB = 2**20
CAPACITY = 4096
# A selector that no other test's node meets.
LABEL = "pressure.example.com/bench"


class MeasuringKubelet:
    """Answers /stats/summary and /configz.

    Attributes:
        node: its name.
        configuration: what counts there, as of a KubeletConfiguration.
        used: MiB of memory by name of pod; pods that are not named use nothing.
        away: it answers nothing but 503.
        guard: makes of how it answers how it answers those who may ask; None: all may.
    """

    def __init__(self, bench: Bench, node: str, clock: Clock) -> None:
        self.node = node
        self.configuration: dict[str, Any] = {"evictionHard": {"memory.available": "500Mi"}}
        self.used: dict[str, int] = {}
        self.away = False
        self.guard: Callable[[Behaviour], Behaviour] | None = None
        self._bench = bench
        self._clock = clock
        self._pods: dict[str, Object] = {}

    async def pod(self, name: str, mib: int, **parts: Any) -> Object:
        """A pod of the node that uses so much; more of it as Bench.pod has it."""
        pod = await self._bench.pod(name, node=self.node, **parts)
        return self.adopt(await self._bench.set_status(pod, phase="Running"), mib)

    def adopt(self, pod: Object, mib: int) -> Object:
        """A pod of the node that a test has made uses so much."""
        name = name_of(pod)
        self._pods[name], self.used[name] = pod, mib
        return pod

    def gone(self, name: str) -> None:
        """Its containers have ended."""
        self.used.pop(name)

    async def answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        """As a Behaviour."""
        answer = self._answer if self.guard is None else self.guard(self._answer)
        await answer(head, writer)

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        if self.away:
            return await answering(b"not now", "503 Service Unavailable")(head, writer)
        configz = b" /configz" in head
        found = {"kubeletconfig": self.configuration} if configz else self._summary()
        return await answering(json.dumps(found).encode())(head, writer)

    def _summary(self) -> dict[str, Any]:
        at = describe_time(self._clock.now().replace(microsecond=0))
        taken = sum(self.used.values())
        memory = {"time": at, "workingSetBytes": taken * MIB}
        own = memory | {"availableBytes": max(0, CAPACITY - taken) * MIB}
        pods = [
            {
                "podRef": {"name": name, "namespace": self._bench.namespace,
                           "uid": uid_of(self._pods[name])},
                "memory": memory | {"workingSetBytes": mib * MIB},
            }
            for name, mib in self.used.items()
        ]  # fmt: skip
        return {"node": {"nodeName": self.node, "memory": own}, "pods": pods}


@asynccontextmanager
async def measured_node(
    bench: Bench, folder: Path, clock: Clock, address: str = "127.0.0.1"
) -> AsyncIterator[tuple[MeasuringKubelet, Pressing]]:
    """A node with such a kubelet, and the mode by which a worker watches it alone.

    By an address that is not loopback it is asked by way of the API server.
    """
    tls = make_tls(folder)
    name = await bench.node()
    kubelet = MeasuringKubelet(bench, name, clock)
    async with fake_kubelet(kubelet.answer, tls, address=address) as server:
        status = {
            "addresses": [{"type": "InternalIP", "address": address}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": server.port}},
            "nodeInfo": _node_info(),
        }
        label = {"metadata": {"labels": {LABEL: name}}}
        await bench.cluster.patch(NODES, name, "", label, patch_type=PatchType.MERGE)
        await bench.cluster.patch(NODES, name, "", {"status": status}, subresource="status")
        way = ViaApiServer.NEVER if address == "127.0.0.1" else ViaApiServer.ALWAYS
        networks = (ipaddress.ip_network("127.0.0.0/8"),)
        yield (
            kubelet,
            Pressing(
                PressureMode(selector={LABEL: name}, reader=ReaderSettings(interval=1.0)),
                KubeletSettings(ca_file=tls.ca, networks=networks, via_api_server=way),
            ),
        )


def _node_info() -> dict[str, str]:
    fields = [
        *("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "architecture"),
        *("containerRuntimeVersion", "kubeProxyVersion"),
    ]
    return dict.fromkeys(fields, "") | {"kubeletVersion": "v1.37.1", "operatingSystem": "linux"}
