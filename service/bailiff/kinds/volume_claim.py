"""PersistentVolumeClaims (k8s.io/api/core/v1/types.go): of their spec only who may use them."""

from __future__ import annotations

from bailiff.kinds.meta import KubernetesObject, ObjectMeta, Value
from bailiff.kinds.texts import Word


class PersistentVolumeClaimSpec(Value, frozen=True):
    """What is claimed.

    Attributes:
        access_modes: `ReadWriteOnce`, `ReadOnlyMany`, `ReadWriteMany`, `ReadWriteOncePod`.
    """

    access_modes: tuple[Word, ...] = ()


class PersistentVolumeClaim(KubernetesObject, frozen=True):
    """A claim of storage (core/v1 PersistentVolumeClaim).

    Attributes:
        metadata: its identity.
        spec: see there.
    """

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()

    @property
    def is_shared(self) -> bool:
        """Whether pods of several nodes may write to it; what says nothing is not."""
        modes = self.spec.access_modes
        return bool(modes) and not any(one.startswith("ReadWriteOnce") for one in modes)
