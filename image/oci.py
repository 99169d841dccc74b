"""Layers and settings to an OCI image, by umoci, and that to one archive."""

from __future__ import annotations

import json
import subprocess
import tarfile
from typing import TYPE_CHECKING

from image import ENTRYPOINT, RELEASE, USER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from image.source import Source

LABELS = {
    "title": "Bailiff",
    "description": "The eviction decision service for Kubernetes",
    "licenses": "Apache-2.0",
    "base.name": f"debian:{RELEASE}",
}
# REST, gRPC, the worker's status, the probes.
PORTS = ("8080/tcp", "9090/tcp", "8081/tcp", "8082/tcp")


def write(layers: Mapping[str, Path], layout: Path, source: Source, architecture: str) -> None:
    """An OCI layout of one image, tagged with the version."""
    image = f"{layout}:{source.version}"
    _umoci("init", "--layout", str(layout))
    _umoci("new", "--image", image)
    for name, layer in layers.items():
        told = f"--history.created={source.created}", f"--history.created_by={name}"
        _umoci("raw", "add-layer", "--image", image, *told, str(layer))
    _umoci("config", "--image", image, *_settings(source, architecture))
    # umoci leaves a manifest of every step.
    _umoci("gc", "--layout", str(layout))


def labels(source: Source) -> dict[str, str]:
    """By the keys that opencontainers/image-spec names; no revision where git knows none."""
    own = {"version": source.version, "created": source.created, "revision": source.revision}
    told = {key: value for key, value in (LABELS | own).items() if value}
    return {f"org.opencontainers.image.{key}": value for key, value in sorted(told.items())}


def _settings(source: Source, architecture: str) -> list[str]:
    return [
        "--no-history",
        f"--created={source.created}",
        "--os=linux",
        f"--architecture={architecture}",
        f"--config.user={USER}:{USER}",
        "--config.workingdir=/",
        "--config.env=BAILIFF_LOG_FORMAT=json",
        *(f"--config.entrypoint={word}" for word in ENTRYPOINT),
        "--config.cmd=--help",
        *(f"--config.exposedports={port}" for port in PORTS),
        *(f"--config.label={key}={value}" for key, value in labels(source).items()),
        *(f"--manifest.annotation={key}={value}" for key, value in labels(source).items()),
    ]


def _umoci(*arguments: str) -> None:
    subprocess.run(["umoci", *arguments], check=True)


def digest(layout: Path) -> str:
    """Of the one image in a layout: what a registry names it by, and what is signed."""
    (manifest,) = json.loads((layout / "index.json").read_text())["manifests"]
    return str(manifest["digest"])


def archive(layout: Path, target: Path, epoch: int) -> None:
    """The layout as one file, which `ctr image import`, skopeo, podman and crane read."""
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as out:
        for path in sorted(path for path in layout.rglob("*") if path.is_file()):
            info = tarfile.TarInfo(str(path.relative_to(layout)))
            info.size, info.mtime, info.mode = path.stat().st_size, epoch, 0o644
            with path.open("rb") as file:
                out.addfile(info, file)
