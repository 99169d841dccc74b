"""A container runtime with its CRI plugin, and pods made on it as a kubelet makes them."""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bailiff.agent.cri.calls import Bounds, call
from bailiff.agent.cri.client import CriRuntime
from tests.harness.containerd import Containerd, containerd
from tests.real_node.__main__ import go_build
from tests.real_node.images import archive_of, image_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

HERE = Path(__file__).parent
_FILLER = HERE.parent / "real_node" / "filler"
PAUSE = "docker.io/local/pause:1"
_NODE_NETWORK = 2
_PATIENCE = Bounds(60.0)
_CONFIG = """\
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  disable_cgroup = {no_cgroup}
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
  [plugins."io.containerd.grpc.v1.cri".cni]
    conf_dir = "{folder}/net"
"""


def messages(folder: Path) -> ModuleType:
    """The Python of making_pods.proto, made anew: nothing generated is kept of tests."""
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{HERE}", f"--python_out={folder}"]
    subprocess.run([*command, "making_pods.proto"], check=True)
    spec = importlib.util.spec_from_file_location("making_pods_pb2", folder / "making_pods_pb2.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class NodeRuntime:
    """A runtime, and what a kubelet would have made on it.

    Attributes:
        socket: of the runtime.
        client: that is under test.
        image: one that is there from the beginning.
    """

    def __init__(self, daemon: Containerd, folder: Path, program: bytes) -> None:
        self.daemon = daemon
        self.folder = folder
        self.socket = str(daemon.folder / "containerd.sock")
        self.client = CriRuntime(self.socket)
        self.image = PAUSE
        self._program = program
        self._pb: Any = messages(folder)

    def add_image(self, name: str, size: int = 4096, *, pinned: bool = False) -> None:
        """Import an image with content of its own.

        Args:
            name: as `docker.io/local/a:1`.
            size: bytes of a file in it.
            pinned: as the runtime pins that of pause containers.
        """
        path = self.folder / "image.tar"
        content = (name.encode() * (size // len(name) + 1))[:size]
        path.write_bytes(archive_of([image_of(name, self._program, content)]))
        self.daemon.ctr(
            *("--namespace", "k8s.io", "images", "import", "--snapshotter", "native", str(path))
        )
        if pinned:
            label = "io.cri-containerd.pinned=pinned"
            self.daemon.ctr("--namespace", "k8s.io", "images", "label", name, label)

    async def add_pod(self, name: str, uid: str, *, namespace: str = "default") -> Pod:
        """A sandbox that is ready."""
        pb = self._pb
        config = pb.PodSandboxConfig(
            metadata=pb.PodSandboxMetadata(name=name, uid=uid, namespace=namespace),
            log_directory=str(self.folder / "logs" / uid),
            labels={"io.kubernetes.pod.uid": uid, "io.kubernetes.pod.name": name},
            annotations={"kubernetes.io/config.source": "api"},
            linux=pb.LinuxPodSandboxConfig(
                security_context=pb.LinuxSandboxSecurityContext(
                    namespace_options=pb.NamespaceOption(network=_NODE_NETWORK)
                )
            ),
        )
        request = pb.RunPodSandboxRequest(config=config)
        answer = await self._ask("RunPodSandbox", request, pb.RunPodSandboxResponse)
        return Pod(self, uid, answer.pod_sandbox_id, config)

    async def _ask(self, method: str, request: Any, kind: Any) -> Any:
        data = request.SerializeToString()
        path = f"/runtime.v1.RuntimeService/{method}"
        return kind.FromString(await call(self.socket, path, data, _PATIENCE))


class Pod:
    """A pod on the runtime.

    Attributes:
        uid: of the pod.
        sandbox: its id.
    """

    def __init__(self, runtime: NodeRuntime, uid: str, sandbox: str, config: Any) -> None:
        self._runtime = runtime
        self.uid = uid
        self.sandbox = sandbox
        self._config = config

    async def add_container(self, name: str, image: str, attempt: int = 0, *args: str) -> str:
        """A container that runs; its id."""
        pb = self._runtime._pb
        config = pb.ContainerConfig(
            metadata=pb.ContainerMetadata(name=name, attempt=attempt),
            image=pb.ImageSpec(image=image),
            args=list(args),
            labels={"io.kubernetes.pod.uid": self.uid, "io.kubernetes.container.name": name},
            log_path=f"{name}_{attempt}.log",
        )
        request = pb.CreateContainerRequest(
            pod_sandbox_id=self.sandbox, config=config, sandbox_config=self._config
        )
        ask = self._runtime._ask
        made = await ask("CreateContainer", request, pb.CreateContainerResponse)
        start = pb.StartContainerRequest(container_id=made.container_id)
        await ask("StartContainer", start, pb.StartContainerResponse)
        return str(made.container_id)


@contextlib.contextmanager
def node_runtime(root: Path | None = None) -> Iterator[NodeRuntime]:
    """One, with the image of its sandboxes; nothing is left of it in the end.

    Args:
        root: where its images and layers lie; None: in a folder of its own.
    """
    with tempfile.TemporaryDirectory(prefix="bailiff-pods-") as folder:
        place = Path(folder)
        go_build(_FILLER, "main.go", place / "filler")
        config = _CONFIG.format(pause=PAUSE, folder=folder, no_cgroup="false")
        with containerd(config, root) as daemon:
            runtime = NodeRuntime(daemon, place, (place / "filler").read_bytes())
            runtime.add_image(PAUSE)
            try:
                yield runtime
            finally:
                _clear(runtime)


def _clear(runtime: NodeRuntime) -> None:
    """End every container, so that no shim is left."""
    ctr = runtime.daemon.ctr
    space = ("--namespace", "k8s.io")
    for name in ctr(*space, "tasks", "list", "--quiet", check=False).stdout.split():
        ctr(*space, "tasks", "delete", "--force", name, check=False)
