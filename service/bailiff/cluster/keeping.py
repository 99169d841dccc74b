"""What a watch keeps of pods and nodes besides what every worker reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Keep:
    """Of 150,000 pods each field counts, so that only those keep one who read it.

    Attributes:
        pod_labels: else pods come with LABELS_NOT_KEPT; most have labels of their own.
        pod_resources: by what pods are weighed under pressure: containers, volumes, and what they
            have been given; else they are absent.
        pod_bonds: what binds pods to a node that is lost: their claims of storage, whether they say
            that they are ready, and the labels of those that nobody manages.
        node_status: conditions, addresses, and what runs on a node; else it is empty.
        node_labels: those of these keys, besides the zone.
    """

    pod_labels: bool = False
    pod_resources: bool = False
    pod_bonds: bool = False
    node_status: bool = False
    node_labels: frozenset[str] = frozenset()

    def __or__(self, other: Keep) -> Keep:
        """What either of them keeps."""
        return Keep(
            pod_labels=self.pod_labels or other.pod_labels,
            pod_resources=self.pod_resources or other.pod_resources,
            pod_bonds=self.pod_bonds or other.pod_bonds,
            node_status=self.node_status or other.node_status,
            node_labels=self.node_labels | other.node_labels,
        )


KEEP_LITTLE = Keep()
