"""The volumes of pods (k8s.io/api/core/v1/types.go): those that take space of the node."""

from __future__ import annotations

from bailiff.kinds.meta import Value
from bailiff.kinds.quantity import QuantityText
from bailiff.kinds.texts import LabelName, Word


class EmptyDir(Value, frozen=True):
    """A directory that lives as long as its pod.

    Attributes:
        medium: empty: on the node's disk; `Memory`: a tmpfs.
        size_limit: at most so many bytes; absent: no limit.
    """

    medium: Word = ""
    size_limit: QuantityText | None = None


class VolumeSource(Value, frozen=True):
    """A source of which only matters that it is the one."""


class Volume(Value, frozen=True):
    """An entry of `spec.volumes`; of other sources than these nothing is read.

    Attributes:
        name: unique in its pod.
        empty_dir: a directory of its own.
        host_path: a directory of the node.
        git_repo: a directory that was cloned into.
        config_map: files of a ConfigMap.
    """

    name: LabelName = ""
    empty_dir: EmptyDir | None = None
    host_path: VolumeSource | None = None
    git_repo: VolumeSource | None = None
    config_map: VolumeSource | None = None

    @property
    def is_weighed(self) -> bool:
        """It has one of these sources."""
        sources = (self.empty_dir, self.host_path, self.git_repo, self.config_map)
        return any(one is not None for one in sources)

    @property
    def is_local(self) -> bool:
        """What is in it takes space of the node (localVolumeNames in pkg/kubelet/eviction)."""
        in_memory = self.empty_dir is not None and self.empty_dir.medium != ""
        others = (self.host_path, self.git_repo, self.config_map)
        return any(one is not None for one in others) or (
            self.empty_dir is not None and not in_memory
        )
