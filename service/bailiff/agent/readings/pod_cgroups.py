"""Which cgroups are those of pods, and of their containers: by their names.

Source: ToSystemd and GetPodContainerName in pkg/kubelet/cm. Without systemd that of a pod is
`kubepods/burstable/podUID`. With systemd it is
`kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice`, with an underscore for
each dash of the UID. Pods of the class Guaranteed are directly in `kubepods`.
"""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

_SLICE = ".slice"
_ALL_PODS = "kubepods"
_CLASSES = frozenset({"burstable", "besteffort"})
_POD = "pod"
# A node has some hundred pods, and each cgroup some fifty files.
_MOST_ENTRIES = 20_000
# Those of the API server, and those that the kubelet makes for static pods: in hexadecimal digits.
_UID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")
# Of containerd, CRI-O and cri-dockerd. That of CRI-O's own process, `crio-conmon-ID`, is none.
_CONTAINER = re.compile(r"(?:(?:cri-containerd|crio|docker)-)?([0-9A-Za-z]+)(?:\.scope)?")


class PodCgroups(NamedTuple):
    """Paths of cgroups, behind the mount point.

    Attributes:
        of_all: the one that all pods are in; None: there is none.
        by_uid: that of each pod.
    """

    of_all: str | None
    by_uid: dict[str, str]


def pod_cgroups(folder: Callable[[str], str], node: str, known: Collection[str]) -> PodCgroups:
    """Look for them below a cgroup: there, in `kubepods`, and in the classes below that.

    Args:
        folder: where a cgroup's files are, by its path.
        node: the cgroup that is taken for the node.
        known: UIDs of pods. Others count only if they look like one: `podman` is no pod.
    """
    found: dict[str, str] = {}
    all_pods = _search(folder, node, known, found, frozenset({_ALL_PODS}))
    for path in all_pods:
        for one in _search(folder, path, known, found, _CLASSES):
            _search(folder, one, known, found, frozenset())
    return PodCgroups(all_pods[0] if all_pods else None, found)


def containers_in(folder: str) -> dict[str, str]:
    """Names of the cgroups in that of a pod, by the ID of the container."""
    matched = ((_CONTAINER.fullmatch(name), name) for name in _folders(folder))
    return {match[1]: name for match, name in matched if match is not None}


def _search(
    folder: Callable[[str], str],
    path: str,
    known: Collection[str],
    found: dict[str, str],
    wanted: Collection[str],
) -> list[str]:
    """Add the pods that are there, and return the paths of those that are wanted besides."""
    others = []
    for name in _folders(folder(path)):
        last = _last_part(name)
        if last in wanted:
            others.append(f"{path}/{name}")
        elif last.startswith(_POD):
            uid = last.removeprefix(_POD)
            if uid in known or _UID.fullmatch(uid):
                found.setdefault(uid, f"{path}/{name}")
    return sorted(others)


def _last_part(name: str) -> str:
    """What a cgroup is called among its siblings: systemd puts the names of all above before it."""
    if not name.endswith(_SLICE):
        return name
    return name.removesuffix(_SLICE).rpartition("-")[2].replace("_", "-")


def _folders(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for one in islice(entries, _MOST_ENTRIES):
                if one.is_dir(follow_symlinks=False):
                    yield one.name
    except (OSError, ValueError):
        return
