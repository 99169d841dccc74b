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
from tests.attack.access import Access
from tests.attack.attacks import Port
from tests.attack.cgroup import MemoryCgroup, memory_cgroup
from tests.attack.logins import Logins, secure
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
# As the chart names it, whose account may write no other.
LEASE = "bailiff-worker"


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
    """Both processes and the cluster that they use.

    Attributes:
        access: what healthy callers have; None: nobody is asked who it is.
    """

    cluster: Cluster
    api: Target
    worker: Target
    access: Access | None = None

    @property
    def status(self) -> StatusPages:
        """What the worker says of itself."""
        port, access = self.worker.ports[Port.STATUS], self.access
        return StatusPages(port, access.tls, access.token) if access else StatusPages(port)

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
        await until(self.status.leads, 60.0)
        await self.api.wait()

    async def pend(self, pods: int) -> None:
        """Have so many pods wait for an eviction that does not come while anybody looks."""
        fleet = Fleet(self.cluster, "pending")
        await fleet.set_up(20)
        await fleet.spread(pods, fleet.nodes, _LONG, shortest=_LONG)
        await fleet.taint(fleet.nodes)
        pages = self.status

        async def all_pend() -> bool:
            return bool((await pages.queue()).get("total", 0) >= pods)

        await until(all_pend, 60.0)


@contextlib.asynccontextmanager
async def stage(*, secured: bool = False) -> AsyncIterator[Stage]:
    """Start it all, and end it; secured as the chart has it, or open to everybody."""
    with tempfile.TemporaryDirectory(prefix="bailiff-attack-") as name:
        folder = Path(name)
        async with (
            (_secured if secured else _open)(folder) as logins,
            await connect(logins.admin) as cluster,
        ):
            await make_leases(cluster, logins.namespace, name=LEASE)
            with _serve(logins, folder) as api, _work(logins, folder) as worker:
                found = Stage(cluster, api, worker, logins.access)
                await found.settle()
                yield found


@contextlib.asynccontextmanager
async def _secured(folder: Path) -> AsyncIterator[Logins]:
    with KubeApiserver() as server:
        yield await secure(server, folder)


@contextlib.asynccontextmanager
async def _open(folder: Path) -> AsyncIterator[Logins]:
    async with _kubeconfig(folder) as path:
        yield Logins(path, path, path, "default")


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


def _serve(logins: Logins | None, folder: Path) -> contextlib.AbstractContextManager[Target]:
    ports = {port: free_port() for port in (Port.REST, Port.GRPC, Port.HEALTH)}
    flags = [f"--{port.value}-port={number}" for port, number in ports.items()]
    cluster = [f"--kubeconfig={logins.api}", *logins.flags] if logins else []
    return _target("serve", "api", [*cluster, *flags], ports, folder)


def _work(logins: Logins, folder: Path) -> contextlib.AbstractContextManager[Target]:
    ports = {port: free_port() for port in (Port.STATUS, Port.HEALTH)}
    flags = [f"--{port.value}-port={number}" for port, number in ports.items()]
    lease = ["--leader-elect", f"--lease-namespace={logins.namespace}", f"--lease-name={LEASE}"]
    cluster = [f"--kubeconfig={logins.worker}", *logins.flags]
    return _target("worker", "worker", [*cluster, *flags, *lease], ports, folder)


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
