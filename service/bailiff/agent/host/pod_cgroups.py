"""Which cgroup is whose: a kubelet's names, in both of its drivers.

Source: pkg/kubelet/cm/cgroup_manager_linux.go and pkg/kubelet/cm/pod_container_manager_linux.go.
With the driver cgroupfs it is `kubepods/burstable/podUID/CONTAINER`, with systemd
`kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/RUNTIME-CONTAINER.scope`,
where the dashes of the UID are underscores.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_KUBEPODS = ("kubepods", "kubepods.slice")
_POD = re.compile(r"(?:kubepods[a-z-]*-)?pod([0-9A-Za-z_.-]{1,128}?)(?:\.slice)?")
_CONTAINER = re.compile(r"(?:[a-z-]+-)?([0-9a-f]{64})(?:\.scope)?")
# More than a node has of either.
_MOST = 4096


def pods_cgroup(node: Path) -> Path | None:
    """That of all pods, below the node's; None: there is none."""
    for name in _KUBEPODS:
        if (node / name).is_dir():
            return node / name
    return None


def pod_cgroups(node: Path) -> dict[str, Path]:
    """The cgroups of pods, by UID; of a static pod that is the UID of its file.

    They are looked for below that of all pods, or, where there is none, below the node's itself.
    """
    top = pods_cgroup(node) or node
    found: dict[str, Path] = {}
    for folder in (top, *(one for one in _folders(top) if uid_of(one.name) is None)):
        for one in _folders(folder):
            uid = uid_of(one.name)
            if uid is not None:
                found.setdefault(uid, one)
    return found


def uid_of(name: str) -> str | None:
    """The UID of the pod whose cgroup has this name; None: it is none of a pod."""
    matched = _POD.fullmatch(name)
    return None if matched is None else matched[1].replace("_", "-")


def container_cgroups(pod: Path) -> dict[str, Path]:
    """Those of its containers, by the container's id; the sandbox is among them."""
    found = {}
    for one in _folders(pod):
        matched = _CONTAINER.fullmatch(one.name)
        if matched is not None:
            found[matched[1]] = one
    return found


def _folders(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in entries if one.is_dir(follow_symlinks=False)]
    except OSError:
        return
    yield from (folder / name for name in names[:_MOST])
