"""The chart's processes, started as its Deployments say: their arguments, variables and files."""

from __future__ import annotations

import base64
import contextlib
import shutil
import ssl
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp

from tests.harness.helm.chart import Object, container_of, pod_of
from tests.harness.kube.programs import Program, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Running:
    """A container's process.

    Attributes:
        program: the process.
        ports: those that it listens on, by the names that the chart gives them.
        ca: what signs its certificate.
    """

    program: Program
    ports: dict[str, int]
    ca: Path

    async def probe(self, path: str) -> tuple[int, str]:
        """HTTP status and text of a page of the health port; 0 while nobody answers."""
        with contextlib.suppress(aiohttp.ClientError):
            return await _told(f"http://127.0.0.1:{self.ports['health']}{path}")
        return 0, ""

    async def get(self, port: str, path: str, token: str = "", **more: Any) -> tuple[int, str]:
        """The same of a page over TLS, to whoever has this token; `json` is sent by POST."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        trusting = ssl.create_default_context(cafile=self.ca)
        url = f"https://localhost:{self.ports[port]}{path}"
        return await _told(url, headers=headers, ssl=trusting, **more)


async def _told(url: str, **request: Any) -> tuple[int, str]:
    method = "POST" if "json" in request else "GET"
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, **request) as response,
    ):
        return response.status, await response.text()


@contextlib.contextmanager
def running(
    objects: list[Object], component: str, kubeconfig: Path, folder: Path
) -> Iterator[Running]:
    """The process of a component, until the block ends.

    It is started as its container is but for what there is in no other place than a pod: the
    account comes by a kubeconfig, mounted files and ports are others, and Python is this one
    without `-I`, since that would find another installation.

    Args:
        objects: of a release.
        component: whose container.
        kubeconfig: of its account.
        folder: for files and the log.
    """
    container = container_of(objects, component)
    ports = {one["name"]: free_port() for one in container["ports"]}
    settings = _in_place(container, _files(objects, component, folder), ports)
    assert settings.pop("BAILIFF_IN_CLUSTER") == "true"
    settings["BAILIFF_KUBECONFIG"] = str(kubeconfig)
    command = [part for part in container["command"][1:] if part != "-I"]
    variables = [f"{name}={value}" for name, value in settings.items()]
    arguments = [*variables, sys.executable, *command, *container["args"]]
    program = Program(component, arguments, folder, shutil.which("env"))
    program.start()
    try:
        yield Running(program, ports, _authority(objects, component, folder))
    finally:
        program.stop(patience=30.0)


def _in_place(container: Object, files: dict[str, Path], ports: dict[str, int]) -> dict[str, str]:
    """The variables, with these files and ports for those of the pod."""
    taken = {str(one["containerPort"]): str(ports[one["name"]]) for one in container["ports"]}
    found = {one["name"]: one["value"] for one in container["env"]}
    for name, value in found.items():
        if name.endswith("_PORT"):
            found[name] = taken[value]
        where, _, file = value.rpartition("/")
        if where in files:
            found[name] = str(files[where] / file)
    return found


def _files(objects: list[Object], component: str, folder: Path) -> dict[str, Path]:
    """What is mounted, as folders by the paths in the container."""
    volumes = {one["name"]: one for one in pod_of(objects, component)["spec"]["volumes"]}
    found = {}
    for mount in container_of(objects, component)["volumeMounts"]:
        place = found[mount["mountPath"]] = folder / mount["name"]
        place.mkdir()
        for path, content in _contents(objects, volumes[mount["name"]]):
            (place / path).write_bytes(content)
    return found


def _contents(objects: list[Object], volume: Object) -> Iterator[tuple[str, bytes]]:
    """The files of a volume, each by its path in there."""
    if "secret" in volume:
        data = _data(objects, "Secret", volume["secret"]["secretName"])
        given = {key: base64.b64decode(value) for key, value in data.items()}
    else:
        data = _data(objects, "ConfigMap", volume["configMap"]["name"])
        given = {key: value.encode() for key, value in data.items()}
    for item in volume["secret" if "secret" in volume else "configMap"]["items"]:
        yield item["path"], given[item["key"]]


def _data(objects: list[Object], kind: str, name: str) -> dict[str, str]:
    [found] = [o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name]
    data: dict[str, str] = found["data"]
    return data


def _authority(objects: list[Object], component: str, folder: Path) -> Path:
    volumes = {one["name"]: one for one in pod_of(objects, component)["spec"]["volumes"]}
    data = _data(objects, "Secret", volumes["tls"]["secret"]["secretName"])
    path = folder / "authority.crt"
    path.write_bytes(base64.b64decode(data["ca.crt"]))
    return path
