"""What is attacked: `bailiff serve` and `bailiff worker`, with the memory that the chart gives."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from bailiff.cluster import Cluster, connect
from tests.attack.attacks import Port
from tests.attack.cgroup import MemoryCgroup, memory_cgroup
from tests.chaos.fleet import Fleet
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.programs import Program, assets, free_port
from tests.harness.leases import make_leases
from tests.harness.status import StatusPages
from tests.harness.working import until

_VALUES = Path(__file__).parents[2] / "helm/bailiff/values.yaml"
_UNITS = {"Mi": 1024**2, "Gi": 1024**3}
# Pods that are pending while the worker is attacked, and what they tolerate in seconds.
_LONG = 3600
_LEASE = "attacked"


def chart_limit(component: str) -> int:
    """The memory that the chart gives a pod of the API or of the worker, in bytes."""
    text = yaml.safe_load(_VALUES.read_text())[component]["resources"]["limits"]["memory"]
    return int(text[:-2]) * _UNITS[text[-2:]]


@dataclass
class Target:
    """A process that is attacked.

    Attributes:
        ports: by what they are for.
    """

    program: Program
    cgroup: MemoryCgroup
    limit: int
    ports: dict[Port, int]

    async def wait(self) -> None:
        """Until it is ready."""
        await until(StatusPages(self.ports[Port.HEALTH]).ready, 60.0)

    def revive(self) -> None:
        """Start it again where it has ended, as a kubelet would."""
        if self.program.exited:
            self.program.stop()
            self.program.start()


@dataclass
class Stage:
    """Both processes and the cluster that they use."""

    cluster: Cluster
    api: Target
    worker: Target

    def of(self, port: Port) -> Target:
        """Whose port that is, if it is none that both have."""
        return self.worker if port.is_workers else self.api

    async def mend(self) -> None:
        """Have both run, and be ready, whatever the last attack has done to them."""
        for target in (self.api, self.worker):
            target.revive()
        await self.settle()

    async def settle(self) -> None:
        """Wait until both are ready."""
        await until(StatusPages(self.worker.ports[Port.STATUS]).leads, 60.0)
        await self.api.wait()

    async def pend(self, pods: int) -> None:
        """Have so many pods wait for an eviction that does not come while anybody looks."""
        fleet = Fleet(self.cluster, "pending")
        await fleet.set_up(20)
        await fleet.spread(pods, fleet.nodes, _LONG, shortest=_LONG)
        await fleet.taint(fleet.nodes)
        pages = StatusPages(self.worker.ports[Port.STATUS])

        async def all_pend() -> bool:
            return bool((await pages.queue()).get("total", 0) >= pods)

        await until(all_pend, 60.0)


@contextlib.asynccontextmanager
async def stage() -> AsyncIterator[Stage]:
    """Start it all, and end it."""
    with tempfile.TemporaryDirectory(prefix="bailiff-attack-") as name:
        folder = Path(name)
        async with _kubeconfig(folder) as kubeconfig, await connect(kubeconfig) as cluster:
            await make_leases(cluster, "default", name=_LEASE)
            with _serve(kubeconfig, folder) as api, _work(kubeconfig, folder) as worker:
                found = Stage(cluster, api, worker)
                await found.settle()
                yield found


@contextlib.asynccontextmanager
async def _kubeconfig(folder: Path) -> AsyncIterator[Path]:
    """Of a real API server where there is one, else of the demo cluster."""
    if assets() is not None:
        with KubeApiserver() as server:
            yield server.kubeconfig
        return
    from bailiff_demo import DemoCluster

    async with DemoCluster(port=0, lively=False) as demo:
        path = folder / "demo.kubeconfig"
        path.write_text(demo.kubeconfig())
        yield path


@contextlib.contextmanager
def serve_alone() -> Iterator[Target]:
    """`bailiff serve` without a cluster."""
    with (
        tempfile.TemporaryDirectory(prefix="bailiff-attack-") as name,
        _serve(None, Path(name)) as target,
    ):
        yield target


def _serve(kubeconfig: Path | None, folder: Path) -> contextlib.AbstractContextManager[Target]:
    ports = {port: free_port() for port in (Port.REST, Port.GRPC, Port.HEALTH)}
    flags = [f"--{port.value}-port={number}" for port, number in ports.items()]
    cluster = [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
    return _target("serve", "api", [*cluster, *flags], ports, folder)


def _work(kubeconfig: Path, folder: Path) -> contextlib.AbstractContextManager[Target]:
    status, health = free_port(), free_port()
    lease = ["--leader-elect", "--lease-namespace=default", f"--lease-name={_LEASE}"]
    flags = [f"--kubeconfig={kubeconfig}", f"--status-port={status}", f"--health-port={health}"]
    ports = {Port.STATUS: status, Port.HEALTH: health}
    return _target("worker", "worker", [*flags, *lease], ports, folder)


@contextlib.contextmanager
def _target(
    command: str, component: str, flags: list[str], ports: dict[Port, int], folder: Path
) -> Iterator[Target]:
    limit = chart_limit(component)
    with memory_cgroup(limit) as cgroup:
        shell, *arguments = cgroup.wrap(sys.executable, "-m", "bailiff", command, *flags)
        program = Program(command, arguments, folder, executable=shell)
        program.start()
        try:
            yield Target(program, cgroup, limit, ports)
        finally:
            program.stop()
