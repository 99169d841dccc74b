"""Which local volumes a pod has: those in which it can take space of the node."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from bailiff.agent.readings.files import is_plain, is_there

# The folders that the kubelet has for them; a hostPath has none (IsLocalEphemeralVolume in
# pkg/volume/util/util.go, and getPath of each plugin).
_KINDS = ("kubernetes.io~empty-dir", "kubernetes.io~configmap", "kubernetes.io~git-repo")
_MOST = 1000


class Volume(NamedTuple):
    """A folder that is to be measured.

    Attributes:
        uid: of its pod.
        name: of the entry in the pod's `spec.volumes`.
        path: as this process sees it.
        parent: the device of the folder that it is in: that of a volume in memory is another.
    """

    uid: str
    name: str
    path: str
    parent: int


def find_volumes(pods: str, uid: str) -> list[Volume] | None:
    """Those of one pod; None: which there are is not known.

    Args:
        pods: the kubelet's folder of pods, as this process sees it.
        uid: of the pod; of a static one that of its file.
    """
    if not is_plain(uid) or not is_there(pods):
        return None
    folder = f"{pods}/{uid}/volumes"
    try:
        parent = Path(folder).stat().st_dev
    except FileNotFoundError:
        return []
    except OSError:
        return None
    found = []
    for kind in _KINDS:
        names = _names(f"{folder}/{kind}")
        if names is None:
            return None
        found += [Volume(uid, name, f"{folder}/{kind}/{name}", parent) for name in names]
    return found


def _names(folder: str) -> list[str] | None:
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in islice(entries, _MOST)]
    except FileNotFoundError:
        return []
    except (OSError, ValueError):
        return None
    # Names of volumes are ASCII; what else is there is none.
    return sorted(filter(str.isascii, names)) if len(names) < _MOST else None
