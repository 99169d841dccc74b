"""The volumes of pods (k8s.io/api/core/v1/types.go): what takes space of the node, and claims."""

from __future__ import annotations

from bailiff.kinds.meta import Value
from bailiff.kinds.quantity import QuantityText
from bailiff.kinds.texts import LabelName, ObjectName, Word


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


class PersistentVolumeClaimSource(Value, frozen=True):
    """A claim of storage, by its name.

    Attributes:
        claim_name: of the PersistentVolumeClaim, in the pod's namespace.
    """

    claim_name: ObjectName = ""


class Volume(Value, frozen=True):
    """An entry of `spec.volumes`; of other sources than these nothing is read.

    Attributes:
        name: unique in its pod.
        empty_dir: a directory of its own.
        host_path: a directory of the node.
        git_repo: a directory that was cloned into.
        config_map: files of a ConfigMap.
        persistent_volume_claim: storage that outlives the pod.
        ephemeral: storage that is claimed for the pod alone, by a claim that is called POD-VOLUME.
    """

    name: LabelName = ""
    empty_dir: EmptyDir | None = None
    host_path: VolumeSource | None = None
    git_repo: VolumeSource | None = None
    config_map: VolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimSource | None = None
    ephemeral: VolumeSource | None = None

    @property
    def is_weighed(self) -> bool:
        """It has one of these sources."""
        sources = (self.empty_dir, self.host_path, self.git_repo, self.config_map)
        return any(one is not None for one in sources)

    @property
    def is_claim(self) -> bool:
        """It is storage that outlives a container, and may be one node's alone."""
        return self.persistent_volume_claim is not None or self.ephemeral is not None

    @property
    def is_local(self) -> bool:
        """What is in it takes space of the node (localVolumeNames in pkg/kubelet/eviction)."""
        in_memory = self.empty_dir is not None and self.empty_dir.medium != ""
        others = (self.host_path, self.git_repo, self.config_map)
        return any(one is not None for one in others) or (
            self.empty_dir is not None and not in_memory
        )
