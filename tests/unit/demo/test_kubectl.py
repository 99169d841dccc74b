"""The demo cluster as people meet it: through kubectl."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bailiff_demo import DemoCluster, DemoSettings, Fleet
from bailiff_demo.settings import KUBERNETES_VERSION

_ASSETS = os.environ.get("KUBEBUILDER_ASSETS", "")
_KUBECTL = shutil.which("kubectl", path=_ASSETS) or shutil.which("kubectl")

pytestmark = pytest.mark.skipif(
    _KUBECTL is None, reason="no kubectl in $KUBEBUILDER_ASSETS or on the PATH"
)


class Kubectl:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        home = {"HOME": str(self._folder), "KUBECONFIG": str(self._folder / "kubeconfig")}
        return await asyncio.create_subprocess_exec(
            str(_KUBECTL),
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=home,
        )

    async def run(self, line: str, stdin: str = "") -> tuple[int, str, str]:
        async with asyncio.timeout(60):
            process = await self.start(*line.split())
            out, err = await process.communicate(stdin.encode())
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()

    async def __call__(self, line: str, stdin: str = "") -> str:
        code, out, err = await self.run(line, stdin)
        assert code == 0, err
        return out


@pytest.fixture
async def kubectl(tmp_path: Path) -> AsyncIterator[Kubectl]:
    settings = DemoSettings(start_seconds=0, stop_seconds=0)
    async with DemoCluster(fleet=Fleet.demo(), settings=settings) as cluster:
        (tmp_path / "kubeconfig").write_text(cluster.kubeconfig())
        run = Kubectl(tmp_path)
        await run("wait -n demo --for=condition=Ready pod -l app=web --timeout=30s")
        yield run


POD = """
apiVersion: v1
kind: Pod
metadata: {name: made, labels: {color: COLOR}}
spec: {containers: [{name: c, image: "example.com/c:1"}]}
"""


async def test_reading(kubectl: Kubectl) -> None:
    assert f"Server Version: {KUBERNETES_VERSION}" in await kubectl("version")
    assert "poddisruptionbudgets" in await kubectl("api-resources")
    lines = (await kubectl("get pods -A -o wide")).splitlines()
    assert lines[0].split()[:5] == ["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS"]
    (patient,) = [line.split() for line in lines if " patient " in line]
    assert (patient[2], patient[3], patient[7]) == ("1/1", "Running", "node-a")
    assert "control-plane   Ready    control-plane" in await kubectl("get nodes")
    assert "kind: Pod" in await kubectl("get pod patient -n demo -o yaml")
    assert "maintenance:NoExecute op=Exists for 10s" in await kubectl(
        "describe pod patient -n demo"
    )
    described = await kubectl("describe node node-a")
    assert "patient" in described
    assert "Unschedulable:      false" in described
    assert "Scheduled" in await kubectl("get events -n demo")
    assert "deployment.apps/web" in await kubectl("get all -n demo")


async def test_writing(kubectl: Kubectl) -> None:
    assert await kubectl("apply -f -", POD) == "pod/made created\n"
    assert await kubectl("apply -f -", POD) == "pod/made unchanged\n"
    assert await kubectl("apply -f -", POD.replace("COLOR", "red")) == "pod/made configured\n"
    assert await kubectl("get pod made -o jsonpath={.metadata.labels.color}") == "red"
    assert await kubectl("label pod made size=big") == "pod/made labeled\n"
    assert await kubectl("annotate pod made note=x") == "pod/made annotated\n"
    assert "deleted" in await kubectl("delete pod made")
    assert await kubectl("create -f -", POD) == "pod/made created\n"
    code, _, err = await kubectl.run("create -f -", POD)
    assert code == 1
    assert 'pods "made" already exists' in err
    assert "force deleted" in await kubectl("delete pod made --force")
    assert (
        await kubectl("scale -n demo deployment web --replicas=2") == "deployment.apps/web scaled\n"
    )


async def test_server_side_apply(kubectl: Kubectl) -> None:
    apply = "apply --server-side -f -"
    assert await kubectl(apply, POD) == "pod/made serverside-applied\n"
    assert await kubectl(apply, POD.replace("COLOR", "red")) == "pod/made serverside-applied\n"
    assert await kubectl("get pod made -o jsonpath={.metadata.labels.color}") == "red"
    await kubectl("label pod made color=blue --overwrite")
    # Here an apply always gets what it wants; a real server would ask for --force-conflicts.
    assert await kubectl(apply, POD) == "pod/made serverside-applied\n"
    assert await kubectl("get pod made -o jsonpath={.metadata.labels.color}") == "COLOR"
    await kubectl("delete pod made --force")
    await kubectl("apply -f -", POD)
    assert await kubectl(apply, POD.replace("COLOR", "red")) == "pod/made serverside-applied\n"
    assert "kubectl-client-side-apply" not in await kubectl(
        "get pod made -o yaml --show-managed-fields"
    )


TOLERANT = POD.replace(
    "spec: {", "spec: {tolerations: [{key: maintenance, operator: Exists, effect: NoExecute}], "
)


async def test_applying_a_pod_with_a_toleration_twice(kubectl: Kubectl) -> None:
    """The pod has the default tolerations besides, which the second apply does not name."""
    assert await kubectl("apply -f -", TOLERANT) == "pod/made created\n"
    assert "pod/made" in await kubectl("apply -f -", TOLERANT)
    assert await kubectl("apply -f -", TOLERANT.replace("COLOR", "red")) == "pod/made configured\n"
    keys = await kubectl("get pod made -o jsonpath={.spec.tolerations[*].key}")
    assert set(keys.split()) == {
        "maintenance",
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    }


async def test_creating_by_command(kubectl: Kubectl) -> None:
    """kubectl sends these in protobuf."""
    created = {
        "namespace box": "namespace/box",
        "configmap box --from-literal=a=b": "configmap/box",
        "secret generic box --from-literal=a=b": "secret/box",
        "serviceaccount box": "serviceaccount/box",
        "deployment box --image=example.com/box:1 --replicas=0 --port=80": "deployment.apps/box",
        "pdb box --selector=app=box --min-available=50%": "poddisruptionbudget.policy/box",
        "priorityclass box --value=7": "priorityclass.scheduling.k8s.io/box",
    }
    for command, name in created.items():
        assert await kubectl(f"create {command}") == f"{name} created\n"
    assert await kubectl("get configmap box -o jsonpath={.data}") == '{"a":"b"}'
    assert await kubectl("get secret box -o jsonpath={.data}") == '{"a":"Yg=="}'
    assert await kubectl("get deployment box -o jsonpath={.spec.replicas}") == "0"
    path = "{.spec.template.spec.containers[0].ports[0].containerPort}"
    assert await kubectl(f"get deployment box -o jsonpath={path}") == "80"
    assert await kubectl("get pdb box -o jsonpath={.spec.minAvailable}") == "50%"
    assert await kubectl("get priorityclass box -o jsonpath={.value}") == "7"
    code, _, err = await kubectl.run("debug node/node-b --image=example.com/box:1")
    assert code == 1, "a pod in protobuf would lose what is in no table"
    assert "unknown format" in err
    code, _, err = await kubectl.run("create job box --image=example.com/box:1")
    assert code == 1
    assert "could not find the requested resource" in err


SLICE = """
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: mine}
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: {name: node-a, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0, taints: [{key: example.com/hot, effect: NoSchedule}]}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: broken}
spec:
  deviceSelector: {driver: gpu.example.com, pool: node-a}
  taint: {key: example.com/broken, value: "yes", effect: NoExecute}
"""


async def test_devices(kubectl: Kubectl) -> None:
    await kubectl("apply -f -", SLICE)
    assert "unchanged" in await kubectl("apply -f -", SLICE)
    lines = (await kubectl("get resourceslices mine")).splitlines()
    assert lines[0].split() == ["NAME", "NODE", "DRIVER", "POOL", "AGE"]
    assert lines[1].split()[:4] == ["mine", "node-a", "gpu.example.com", "node-a"]
    lines = (await kubectl("get devicetaintrules")).splitlines()
    assert lines[0].split() == ["NAME", "KEY", "VALUE", "EFFECT", "TIMEADDED", "AGE"]
    assert lines[1].split()[:4] == ["broken", "example.com/broken", "yes", "NoExecute"]
    assert "Time Added" in await kubectl("describe resourceslice mine")
    assert "example.com/broken" in await kubectl("describe devicetaintrule broken")
    assert "resourceclaims" in await kubectl("api-resources --api-group=resource.k8s.io")
    assert "deleted" in await kubectl("delete -f -", SLICE)


async def test_refusals_name_the_field(kubectl: Kubectl) -> None:
    code, _, err = await kubectl.run("create -f -", POD.replace("name: c,", "name: C,"))
    assert code == 1
    assert 'The Pod "made" is invalid: spec.containers[0].name' in err
    code, _, err = await kubectl.run("get pod nobody")
    assert (code, err) == (1, 'Error from server (NotFound): pods "nobody" not found\n')


async def test_taints_and_cordons(kubectl: Kubectl) -> None:
    assert await kubectl("taint node node-a maintenance=true:NoExecute") == "node/node-a tainted\n"
    assert "maintenance=true:NoExecute" in await kubectl("describe node node-a")
    assert await kubectl("taint node node-a maintenance-") == "node/node-a untainted\n"
    assert await kubectl("cordon node-a") == "node/node-a cordoned\n"
    assert "Ready,SchedulingDisabled" in await kubectl("get node node-a")
    assert await kubectl("uncordon node-a") == "node/node-a uncordoned\n"
    assert "SchedulingDisabled" not in await kubectl("get node node-a")


async def test_drain(kubectl: Kubectl) -> None:
    flags = "--ignore-daemonsets --delete-emptydir-data --force --timeout=50s"
    assert "node/node-a drained" in await kubectl(f"drain node-a {flags}")
    left = await kubectl("get pods -A --field-selector spec.nodeName=node-a -o name")
    assert [name.split("-")[0] for name in left.split()] == ["pod/agent"]


async def test_watching(kubectl: Kubectl) -> None:
    process = await kubectl.start("get", "pods", "-n", "demo", "-l", "app=patient", "-w")
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30):
            assert (await process.stdout.readline()).split()[0] == b"NAME"
            assert b"Running" in await process.stdout.readline()
            await kubectl("delete pod patient -n demo --wait=false")
            assert b"Terminating" in await process.stdout.readline()
    finally:
        process.kill()
        await process.communicate()
