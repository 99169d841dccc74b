"""The kubelet's configuration, as far as eviction reads it.

Source: k8s.io/kubelet/config/v1beta1/types.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from bailiff.kinds.meta import Int32, KubernetesObject, Value

# Far more than there are signals; the texts in it are looked at by who reads them.
MAX_STATEMENTS = 64
Statements = Annotated[
    Mapping[Annotated[str, Meta(max_length=64)], Annotated[str, Meta(max_length=64)]],
    Meta(max_length=MAX_STATEMENTS),
]


class FeatureGates(
    Value,
    frozen=True,
    rename={
        "kubelet_separate_disk_gc": "KubeletSeparateDiskGC",
        "hugepage_aware_eviction": "HugepageAwareEviction",
    },
):
    """The gates that eviction reads; all others are skipped.

    Attributes:
        kubelet_separate_disk_gc: KubeletSeparateDiskGC; a node whose writable layers are on another
            file system than its images needs it; absent: on.
        hugepage_aware_eviction: HugepageAwareEviction; a summary leaves out what is set aside for
            huge pages; absent: on from 1.37, and unknown before.
    """

    kubelet_separate_disk_gc: bool | None = None
    hugepage_aware_eviction: bool | None = None


class KubeletConfiguration(KubernetesObject, frozen=True):
    """A KubeletConfiguration; hand over the whole object, what is not needed is ignored.

    Attributes:
        eviction_hard: amounts by signal, below which pods go at once; absent: the defaults.
        eviction_soft: amounts by signal, below which pods go after a grace period.
        eviction_soft_grace_period: for how long a soft threshold has to be met, by signal.
        eviction_minimum_reclaim: how much more has to be available, by signal, before it is over.
        eviction_pressure_transition_period: for how long a condition of the node is reported after
            there was last reason for it; absent or 0: 5 minutes.
        eviction_max_pod_grace_period: at most so many seconds a pod may take for a soft threshold.
        enforce_node_allocatable: with `pods` in it, or absent, hard thresholds of memory count for
            what pods together may take, too.
        local_storage_capacity_isolation: pods' own limits on the node's disk count; absent: yes.
        merge_default_eviction_settings: signals that `evictionHard` leaves out keep their defaults.
        kernel_memcg_notification: the kernel tells when memory is low.
        feature_gates: those that eviction reads.
    """

    eviction_hard: Statements | None = None
    eviction_soft: Statements | None = None
    eviction_soft_grace_period: Statements | None = None
    eviction_minimum_reclaim: Statements | None = None
    eviction_pressure_transition_period: Annotated[str, Meta(max_length=64)] | None = None
    eviction_max_pod_grace_period: Int32 = 0
    enforce_node_allocatable: (
        Annotated[
            tuple[Annotated[str, Meta(min_length=1, max_length=64)], ...], Meta(max_length=16)
        ]
        | None
    ) = None
    local_storage_capacity_isolation: bool | None = None
    merge_default_eviction_settings: bool | None = None
    kernel_memcg_notification: bool = False
    feature_gates: FeatureGates = FeatureGates()


class Configz(Value, frozen=True):
    """A kubelet's answer to GET /configz.

    Attributes:
        kubeletconfig: what it runs with, the defaults filled in.
    """

    kubeletconfig: KubeletConfiguration
