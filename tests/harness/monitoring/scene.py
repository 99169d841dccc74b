"""A real run of all processes, in which everything happens that a dashboard shows."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import yaml

from tests.harness.agent_process import agent_process
from tests.harness.kube.programs import Program, free_port
from tests.harness.kube.tls import make_tls
from tests.harness.monitoring.deeds import BEGUN, DONE, STRANGER, begin, go_on
from tests.harness.monitoring.filling import agent_of_a_filling_node
from tests.harness.monitoring.prometheus import Prometheus, Target, scraping
from tests.harness.node_needs import no_cgroups
from tests.harness.transcripts import settled_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.harness.kube.apiserver import KubeApiserver
    from tests.harness.kube.tls import Tls
    from tests.harness.transcripts import Up

TOKEN = "observer-token"
WORKER, API, AGENT = "bailiff-worker", "bailiff-api", "bailiff/bailiff-agent"
# Nobody is held back by them, and the metrics of all that may hold somebody are there.
_POLICIES = """\
apiVersion: bailiff.dev/v1
kind: WorkerPolicies
breakers: {zone: {stopAt: 1, slowAt: 1}, cluster: {stopAt: 1, slowAt: 1}}
blastRadius: {maxPods: 1000}
"""
# Always met: a node has no more than its capacity.
_ALWAYS = {"evictionHard": {"memory.available": "99.9%"}, "enforceNodeAllocatable": []}
_PRESSURE = ("--pressure", "--pressure-interval", "2", "--kubelet-via-api-server", "always")
_ON_SMALL = ("--pressure-node-selector", "demo.bailiff.dev/kubelet=measures")
_LOSS = ("--node-loss", "--node-loss-silent-after", "4", "--node-loss-after", "4")
# For traces: by default five seconds pass until spans are sent, and ten until that has failed.
_SOON = ("OTEL_BSP_SCHEDULE_DELAY=200", "OTEL_EXPORTER_OTLP_TIMEOUT=1")
# Watches start again, and what was seen gets old. A rate is there after two scrapes.
_WITHOUT_A_CLUSTER = (
    "rate(bailiff_worker_watch_restarts_total[10s]) >= 0",
    "max(bailiff_agent_mirror_age_seconds) > 2",
)


class Files(NamedTuple):
    """What the processes are given.

    Attributes:
        grpc_port: of gRPC over TLS.
        tracing: options of a process that traces, to a collector that is away.
    """

    policies: Path
    tokens: Path
    extensions: Path
    tls: Tls
    grpc_port: int
    tracing: tuple[str, ...]

    def secured(self) -> list[str]:
        """Options of a process that speaks TLS and asks who asks."""
        pair = ("--tls-cert-file", str(self.tls.certificate))
        key = ("--tls-private-key-file", str(self.tls.key))
        return [*pair, *key, "--token-auth-file", str(self.tokens)]


@contextlib.contextmanager
def monitored(folder: Path, server: KubeApiserver | None) -> Iterator[Prometheus]:
    """The Prometheus that has scraped the run; the demo cluster of the run is gone.

    Args:
        folder: for all files.
        server: a real API server, scraped as well, which knows callers; None: there is none.
    """
    files = _files(folder)
    with contextlib.ExitStack() as run:
        cluster = contextlib.ExitStack()
        up = cluster.enter_context(settled_up(folder, "--policies", str(files.policies)))
        run.push(cluster)
        targets = [*_of_up(up), *_beside(run, up, files, folder)]
        targets += _with_callers(run, server, up, files, folder)
        fill = _full_node(run, up, folder, targets)
        found = run.enter_context(scraping(targets, folder))
        found.wait_for(f"count(up == 1) == {len(targets)}")
        fill()
        begin(up, next(one for one in targets if one.pod == "api-secured"), files.grpc_port)
        found.wait_for(*BEGUN)
        go_on(up)
        found.wait_for(*DONE)
        cluster.close()
        found.wait_for(*_WITHOUT_A_CLUSTER)
        yield found


def _of_up(up: Up) -> Iterator[Target]:
    yield Target(job=WORKER, pod="worker", port=int(up.ports["8081"]))
    yield Target(job=API, pod="api", port=int(up.ports["8080"]))


def _beside(run: contextlib.ExitStack, up: Up, files: Files, folder: Path) -> Iterator[Target]:
    """What `bailiff up` does not start: other modes, TLS, an agent."""
    common = ("--kubeconfig", up.kubeconfig, "--health-port", "0")
    policies = ("--policies", str(files.policies))
    extensions = ("--pressure-extensions", str(files.extensions))
    shadow = ("worker", *common, *_PRESSURE, *_ON_SMALL, *extensions, *files.tracing, "--shadow")
    yield _started(run, "worker-shadow", shadow, folder)
    loss = ("worker", *common, *_LOSS, *policies, "--no-leader-elect", *files.secured())
    yield _started(run, "worker-loss", loss, folder, files.tls)
    # The demo's kubelet of small-1, which measures its pods.
    at = f"{_server(up)}/api/v1/nodes/small-1/proxy"
    kubelet = ("--no-own-readings", "--kubelet", at, "--kubelet-server-name", "127.0.0.1")
    agent = agent_process(
        *(folder, "--kubeconfig", up.kubeconfig, "--shadow", *kubelet),
        node="small-1",
        thresholds=_ALWAYS,
    )
    port = run.enter_context(agent).url.rpartition(":")[2]
    yield Target(job=AGENT, pod="agent", port=int(port))


def _full_node(
    run: contextlib.ExitStack, up: Up, folder: Path, targets: list[Target]
) -> Callable[[], object]:
    """Add the agent of a node that fills when this is called, where cgroups may be made."""
    if no_cgroups():
        return lambda: None
    target, pod = agent_of_a_filling_node(run, up, folder, AGENT)
    targets.append(target)
    return pod.start


def _with_callers(
    run: contextlib.ExitStack, server: KubeApiserver | None, up: Up, files: Files, folder: Path
) -> Iterator[Target]:
    """The decision API for callers who are known; the demo cluster reviews neither of them."""
    asks = ["serve", "--kubeconfig", up.kubeconfig]
    if server is not None:
        asks = ["serve", "--kubeconfig", str(server.kubeconfig)]
        asks.append("--authentication-token-webhook")
        yield Target(
            job="apiserver",
            pod="kube-apiserver",
            port=server.port,
            ca=server.tls.ca,
            token=server.token,
        )
    ports = ("--health-port", "0", "--grpc-port", str(files.grpc_port))
    api = [
        *asks,
        *ports,
        *files.tracing,
        "--policies",
        str(files.policies),
        "--admission",
        *files.secured(),
    ]
    yield _started(run, "api-secured", api, folder, files.tls)


def _server(up: Up) -> str:
    config = yaml.safe_load(Path(up.kubeconfig).read_text())
    return str(config["clusters"][0]["cluster"]["server"])


def _started(
    run: contextlib.ExitStack,
    name: str,
    command: Sequence[str],
    folder: Path,
    tls: Tls | None = None,
) -> Target:
    kind, port = command[0], free_port()
    option = "--status-port" if kind == "worker" else "--rest-port"
    arguments = [*_SOON, sys.executable, "-m", "bailiff", *command, option, str(port)]
    process = Program(name, arguments, folder, "env")
    process.start()
    run.callback(process.stop)
    job = WORKER if kind == "worker" else API
    if tls is None:
        return Target(job=job, pod=name, port=port)
    return Target(job=job, pod=name, port=port, ca=tls.ca, token=TOKEN)


def _files(folder: Path) -> Files:
    (folder / "policies.yaml").write_text(_POLICIES)
    tokens = f'{TOKEN},observer,1,"system:masters"\n{STRANGER},stranger,2\n'
    (folder / "tokens.csv").write_text(tokens)
    (folder / "extensions.yaml").write_text("dryRunHard: [memory.available]\n")
    own = folder / "tls"
    own.mkdir()
    return Files(
        policies=folder / "policies.yaml",
        tokens=folder / "tokens.csv",
        extensions=folder / "extensions.yaml",
        tls=make_tls(own),
        grpc_port=free_port(),
        tracing=("--tracing-endpoint", f"http://127.0.0.1:{free_port()}"),
    )
