"""What the logs of pods take, and which pods their folders tell of.

Source: hostStatsProvider in pkg/kubelet/stats/host_stats_provider.go, and BuildPodLogsDirectory in
pkg/kubelet/kuberuntime/helpers.go: a pod's folder is called NAMESPACE_NAME_UID.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bailiff.agent.readings.file_systems import NOTHING, Usage
from bailiff.agent.readings.files import is_plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.agent.readings.pods import PodOnNode

_BLOCK = 512
# Files that a container has: by default five, each rotated at 10 MiB.
_MOST_FILES = 10_000
_MOST_PODS = 20_000
_MOST_CONTAINERS = 1_000
_PARTS = 3


class PodName(NamedTuple):
    """What a pod is called.

    Attributes:
        namespace: of the pod.
        name: of the pod.
    """

    namespace: str
    name: str


def log_folder(logs: str, pod: PodOnNode) -> str | None:
    """A pod's; None: it has no name for one."""
    name = f"{pod.namespace}_{pod.name}_{pod.uid}"
    return f"{logs}/{name}" if pod.namespace and pod.name and is_plain(name) else None


def containers_by_logs(folder: str) -> list[str]:
    """Names of the containers that have logs in a pod's folder, each in a folder of its own."""
    try:
        with os.scandir(folder) as entries:
            found = list(islice(entries, _MOST_CONTAINERS))
        return sorted(one.name for one in found if one.is_dir(follow_symlinks=False))
    except (OSError, ValueError):
        return []


def names_by_uid(logs: str) -> dict[str, PodName]:
    """What pods are called, by their UIDs: a static pod has another UID in the API."""
    found = {}
    try:
        with os.scandir(logs) as entries:
            for entry in islice(entries, _MOST_PODS):
                parts = entry.name.split("_")
                if len(parts) == _PARTS and entry.name.isascii():
                    found[parts[2]] = PodName(parts[0], parts[1])
    except (OSError, ValueError):
        return {}
    return found


def files_in(folder: str) -> Usage | None:
    """What all but folders takes in a folder, itself left out; a link counts, not what it leads to.

    Returns:
        None where it cannot be told in full. One that is not there takes nothing.
    """
    try:
        with os.scandir(folder) as entries:
            found = list(islice(entries, _MOST_FILES + 1))
    except FileNotFoundError:
        return NOTHING
    except (OSError, ValueError):
        return None
    return _added_up(found) if len(found) <= _MOST_FILES else None


def _added_up(entries: Iterable[os.DirEntry[str]]) -> Usage | None:
    sizes: dict[int, int] = {}
    for entry in entries:
        try:
            if not entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                sizes[status.st_ino] = status.st_blocks * _BLOCK
        except FileNotFoundError:
            # The kubelet has rotated it away.
            continue
        except OSError:
            return None
    return Usage(sum(sizes.values()), len(sizes))


def file(path: str) -> Usage | None:
    """What one file takes; one that is not there takes nothing."""
    try:
        status = Path(path).lstat()
    except FileNotFoundError:
        return NOTHING
    except (OSError, ValueError):
        return None
    return Usage(status.st_blocks * _BLOCK, 1)
