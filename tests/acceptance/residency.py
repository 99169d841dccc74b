"""The plugin binds 1,000 pods on 500 nodes; the worker evicts each when its annotation says.

A kube-scheduler with the plugin of examples/scheduler-plugin, a `bailiff serve` that it asks over
one stream, a `bailiff worker`, each a process. Nodes of ten kinds, by one or two NoExecute taints;
pods tolerate each taint for a time of their own, and half of them are for nodes of one kind. When
each delete was asked for the API server's audit log tells.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median, quantiles

from tests.acceptance.stage import Stage, stage
from tests.chaos.scenarios import beside
from tests.chaos.workers import WorkerProcess
from tests.harness.api import NAMESPACES, PODS, uid_of
from tests.harness.go_examples import built
from tests.harness.kube.programs import Program, free_port
from tests.harness.kube.scheduler import kube_scheduler, ready_node, register
from tests.harness.objects import Object, object_of, pod_object, taint, tolerating
from tests.harness.working import until

NODES, PODS_OF_ALL = 500, 1000
NAMESPACE = "residency"
UNTIL = "bailiff.dev/residency-until"
KEYS = ("a", "b", "c", "d", "e")
# Of nodes: their taints by key.
KINDS = (*((key,) for key in KEYS), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("a", "shut"))
OPEN = KINDS[:-1]
# Seconds that a pod tolerates a taint.
SHORTEST, LONGEST = 15, 60
WITHIN = 1.0
_PATIENCE = 120.0
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}


@dataclass(frozen=True)
class Figures:
    """What came of it.

    Attributes:
        bound: seconds until all pods were bound.
        untold: pods without an instant on them.
        stayed: pods that were not evicted.
        late: seconds that each delete came after the instant told; negative is before.
        noted: seconds that the time which a pod tolerates ends after the instant told, counted from
            when Kubernetes has noted the binding; the rest of `late` is the worker's.
    """

    bound: float
    untold: int
    stayed: int
    late: list[float]
    noted: list[float]

    @property
    def outside(self) -> int:
        """Pods that went more than a second before or after."""
        return sum(abs(by) > WITHIN for by in self.late)

    def report(self) -> str:
        """One line for each figure."""
        if len(self.late) < 2:
            return f"{len(self.late)} pods evicted, {self.untold} untold, {self.stayed} stayed"
        worker = [late - noted for late, noted in zip(self.late, self.noted, strict=True)]
        return (
            f"{PODS_OF_ALL} pods bound on {NODES} nodes in {self.bound:.1f} s, "
            f"{PODS_OF_ALL / self.bound:.0f} a second\n"
            f"told {len(self.late)}, untold {self.untold}, not evicted {self.stayed}\n"
            f"evicted after the instant told, in seconds: {_spread(self.late)}\n"
            f"of that Kubernetes' note of the binding: {_spread(self.noted)}\n"
            f"and the worker: {_spread(worker)}\n"
            f"more than {WITHIN:g} s apart: {self.outside}"
        )


async def run() -> bool:
    """Everything; whether all was well."""
    with tempfile.TemporaryDirectory(prefix="bailiff-plugin-") as name:
        folder = Path(name)
        program = await asyncio.to_thread(built, "scheduler-plugin", folder)
        async with stage() as found, serving(folder) as port:
            worker = WorkerProcess("worker", found.server.kubeconfig, folder)
            await register(found.cluster, nodes())
            await found.cluster.create(NAMESPACES, object_of("Namespace", NAMESPACE))
            await create(found, pods(random.Random(1)))
            scheduler = (found.server.kubeconfig, configured(port), folder, program)
            async with beside(worker.run()):
                await until(worker.pages.ready)
                async with kube_scheduler(*scheduler):
                    figures = await _figures(found)
    print(figures.report(), flush=True)
    return not (figures.untold or figures.stayed or figures.outside)


def configured(port: int) -> Object:
    """The plugin before DefaultBinder, asking at this port; who gets no answer waits."""
    binders = [{"name": "Residency"}, {"name": "DefaultBinder"}]
    plugins = {
        "multiPoint": {"enabled": [{"name": "Residency", "weight": 2}]},
        "bind": {"disabled": binders[1:], "enabled": binders},
    }
    args = {"address": f"127.0.0.1:{port}", "timeout": "5s", "onFailure": "Fail"}
    profile = {
        "schedulerName": "default-scheduler",
        "plugins": plugins,
        "pluginConfig": [{"name": "Residency", "args": args}],
    }
    return {**CONFIGURATION, "profiles": [profile]}


def nodes() -> list[Object]:
    """Of all kinds alike."""
    made = []
    for number in range(NODES):
        kind = KINDS[number % len(KINDS)]
        taints = [taint(key, "", "NoSchedule" if key == "shut" else "NoExecute") for key in kind]
        node = ready_node(f"node-{number:03}", *taints)
        node["metadata"]["labels"]["kind"] = "-".join(kind)
        made.append(node)
    return made


def pods(rng: random.Random) -> list[Object]:
    """Each tolerates all that evicts, for a while; every other one is for one kind of nodes."""
    made = []
    for number in range(PODS_OF_ALL):
        tolerations = [tolerating(rng.randint(SHORTEST, LONGEST), key) for key in KEYS]
        spec: Object = {"tolerations": tolerations}
        if number % 2:
            spec["nodeSelector"] = {"kind": "-".join(rng.choice(OPEN))}
        made.append(pod_object(f"pod-{number:04}", **spec))
    return made


async def create(found: Stage, made: list[Object], at_a_time: int = 20) -> None:
    """Put them into the namespace."""
    turns = asyncio.Semaphore(at_a_time)

    async def one(pod: Object) -> None:
        async with turns:
            await found.cluster.create(PODS, pod, NAMESPACE)

    await asyncio.gather(*map(one, made))


@contextlib.asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[int]:
    """A `bailiff serve`; its gRPC port."""
    port = free_port()
    ports = (f"--grpc-port={port}", "--rest-port=0", "--health-port=0")
    program = Program("serve", ["-m", "bailiff", "serve", *ports], folder, sys.executable)
    program.start()
    try:
        await until(lambda: "decision API starts" in program.tail())
        yield port
    finally:
        await asyncio.to_thread(program.stop)


async def _figures(found: Stage) -> Figures:
    begun = time.monotonic()
    await until(lambda: _all_bound(found), within=_PATIENCE)
    bound = time.monotonic() - begun
    with contextlib.suppress(TimeoutError):
        await until(lambda: len(found.witness.ending) == PODS_OF_ALL, within=_PATIENCE)
    listed = (await found.cluster.list(PODS, namespace=NAMESPACE)).items
    gone = found.deletions().accepted
    told = [(pod, at) for pod in listed if (at := _told(pod)) is not None]
    pairs = [(pod, at) for pod, at in told if uid_of(pod) in gone]
    return Figures(
        bound,
        untold=len(listed) - len(told),
        stayed=len(listed) - len(gone),
        late=[gone[uid_of(pod)][0] - at for pod, at in pairs],
        noted=[_ends(pod) - at for pod, at in pairs],
    )


def _spread(seconds: list[float]) -> str:
    cuts = quantiles(seconds, n=100)
    return (
        f"first {min(seconds):.3f}, 1 % {cuts[0]:.3f}, median {median(seconds):.3f}, "
        f"99 % {cuts[-1]:.3f}, last {max(seconds):.3f}"
    )


def _ends(pod: Object) -> float:
    """When the time ends that it tolerates the taints of its node."""
    (noted,) = (
        datetime.fromisoformat(one["lastTransitionTime"])
        for one in pod["status"]["conditions"]
        if one["type"] == "PodScheduled"
    )
    number = int(pod["spec"]["nodeName"].removeprefix("node-"))
    tolerated = {one["key"]: one["tolerationSeconds"] for one in pod["spec"]["tolerations"][:5]}
    seconds: int = min(tolerated[key] for key in KINDS[number % len(KINDS)])
    return noted.timestamp() + seconds


async def _all_bound(found: Stage) -> bool:
    await asyncio.sleep(0.2)
    listed = (await found.cluster.list(PODS, namespace=NAMESPACE)).items
    return all(pod["spec"].get("nodeName") for pod in listed)


def _told(pod: Object) -> float | None:
    """The instant that the pod carries; None: none."""
    said = pod["metadata"].get("annotations", {}).get(UNTIL, "forever")
    return None if said == "forever" else datetime.fromisoformat(said).timestamp()
