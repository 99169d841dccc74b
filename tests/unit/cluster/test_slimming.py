"""What pods share is held once; what no rule reads is not held."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from bailiff.cluster.interning import InternTable, LabelTable
from bailiff.cluster.keeping import Keep
from bailiff.cluster.slimming import PodSlimmer, slimmer_for
from bailiff.decisions.criticality import is_critical
from bailiff.kinds import LABEL_ZONE, LABELS_NOT_KEPT, ConfigMap, Node, Pod, decode


def decoded_pod(name: str) -> Pod:
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": "2026-01-02T00:00:00Z"}
        for kind in ("Ready", "DisruptionTarget", "PodScheduled")
    ]
    return decode(
        json.dumps(
            {
                "metadata": {
                    "name": name,
                    "namespace": "some-namespace",
                    "creationTimestamp": "2026-01-01T00:00:00Z",
                    "labels": {"app": "web"},
                    "annotations": {"bailiff.dev/do-not-evict": "true", "other": name},
                    "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "uid": "u"}],
                },
                "spec": {
                    "nodeName": "some-node",
                    "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 300}],
                },
                "status": {"phase": "Running", "conditions": conditions},
            }
        ).encode(),
        Pod,
    )


def test_equal_parts_become_the_same_object() -> None:
    slim = PodSlimmer()
    one, other = slim(decoded_pod("a")), slim(decoded_pod("b"))
    assert one.spec.tolerations is other.spec.tolerations
    assert one.spec.node_name is other.spec.node_name
    assert one.metadata.namespace is other.metadata.namespace
    assert one.metadata.owner_references is other.metadata.owner_references
    assert one.metadata.annotations is other.metadata.annotations
    assert one.status.phase is other.status.phase
    assert one.status.conditions[0].type is other.status.conditions[0].type


def test_nobody_calls_itself_a_static_pod() -> None:
    """A kubelet writes itself where it has a pod from, whatever the API says."""
    body = {"metadata": {"annotations": {"kubernetes.io/config.source": "file"}}}
    claiming = decode(json.dumps(body).encode(), Pod)
    assert is_critical(claiming)
    assert not is_critical(PodSlimmer()(claiming))


def test_labels_are_dropped_unless_asked_for_and_then_shared() -> None:
    assert PodSlimmer()(decoded_pod("a")).metadata.labels is LABELS_NOT_KEPT
    slim = PodSlimmer(keep=Keep(pod_labels=True))
    one, other = slim(decoded_pod("a")).metadata.labels, slim(decoded_pod("b")).metadata.labels
    assert one == {"app": "web"}
    assert one is other


def test_who_slims_pods_for_a_watch_drops_labels_unless_asked_for() -> None:
    assert slimmer_for(Pod)(decoded_pod("a")).metadata.labels is LABELS_NOT_KEPT
    kept = slimmer_for(Pod, Keep(pod_labels=True))(decoded_pod("a"))
    assert kept.metadata.labels == {"app": "web"}


def test_labels_that_no_table_has_room_for_are_kept_all_the_same() -> None:
    slim = PodSlimmer(0, keep=Keep(pod_labels=True))
    assert slim(decoded_pod("a")).metadata.labels == {"app": "web"}


def test_all_but_the_conditions_stays_equal() -> None:
    before, after = decoded_pod("a"), PodSlimmer(keep=Keep(pod_labels=True))(decoded_pod("a"))
    assert (after.metadata, after.spec, after.status.phase) == (
        before.metadata,
        before.spec,
        before.status.phase,
    )


def test_what_pods_are_weighed_by_under_pressure_is_dropped() -> None:
    asked = {"resources": {"requests": {"memory": "1Gi"}}, "name": "c"}
    spec = {"containers": [asked], "initContainers": [asked], "overhead": {"cpu": "1"}}
    spec |= {"volumes": [{"name": "v", "emptyDir": {}}], "resources": {}}
    status = {"qosClass": "Burstable", "containerStatuses": [{"name": "c"}]}
    pod = decode(json.dumps({"spec": spec, "status": status}).encode(), Pod)
    assert PodSlimmer()(pod) == Pod(metadata=pod.metadata)


def test_of_the_conditions_those_stay_that_a_rule_reads() -> None:
    kept = PodSlimmer()(decoded_pod("a")).status.conditions
    assert [one.type for one in kept] == ["DisruptionTarget", "PodScheduled"]


def test_when_a_pod_was_bound_is_still_known() -> None:
    # Without the condition it would be when the pod was made.
    bound = PodSlimmer()(decoded_pod("a")).bound_at
    assert bound == datetime(2026, 1, 2, tzinfo=UTC)


def one(letter: str) -> tuple[str]:
    # Not a literal: equal ones would be the same object from the start.
    return (letter,)


def test_a_full_table_hands_back_what_it_is_given() -> None:
    table = InternTable(2)
    first, second, third = (one(letter) for letter in "abc")
    assert table.intern(first) is first
    assert table.intern(second) is second
    assert table.intern(third) is third
    assert table.intern(one("c")) is not third
    assert table.intern(one("a")) is first
    assert len(table) == 2


def test_values_that_nobody_has_any_more_go() -> None:
    table = InternTable()
    kept = [table.intern((f"kept {n}",)) for n in range(500)]
    for n in range(25_000):
        table.intern((f"gone {n}",))
    # Those that are used, and what came since the last sweep.
    assert len(table) < 2000
    assert all(table.intern((f"kept {n}",)) is kept[n] for n in range(500))


def test_a_table_full_of_what_nobody_has_makes_room() -> None:
    table = InternTable(2000)
    first = [table.intern((f"first {n}",)) for n in range(3000)]
    assert len(table) == 2000
    del first
    for n in range(6000):
        table.intern((f"gone {n}",))
    kept = table.intern(one("kept"))
    assert table.intern(one("kept")) is kept


def test_labels_that_nobody_has_any_more_go() -> None:
    table = LabelTable()
    kept = [table.share({"app": f"kept {n}"}) for n in range(500)]
    for n in range(25_000):
        table.share({"app": f"gone {n}"})
    assert len(table) < 2000
    assert all(table.share({"app": f"kept {n}"}) is kept[n] for n in range(500))


def test_of_a_nodes_labels_the_zone_is_kept() -> None:
    labels = {LABEL_ZONE: "eu-1", "kubernetes.io/hostname": "n1"}
    node = decode(json.dumps({"metadata": {"name": "n1", "labels": labels}}).encode(), Node)
    assert slimmer_for(Node)(node) is node
    assert node.metadata.labels == {LABEL_ZONE: "eu-1"}
    assert slimmer_for(Node)(Node()) == Node()


def test_of_a_nodes_managed_fields_the_last_edit_of_its_taints_is_kept() -> None:
    owned: dict[str, object] = {"f:spec": {"f:taints": {}}}
    other: dict[str, object] = {"f:metadata": {"f:labels": {}}}
    entries = [
        {"time": f"2026-01-01T00:00:0{second}Z", "fieldsV1": fields}
        for second, fields in ((1, owned), (3, owned), (5, other), (2, owned), (3, owned))
    ]
    node = decode(json.dumps({"metadata": {"managedFields": entries}}).encode(), Node)
    edited = node.taints_edited
    assert edited == datetime(2026, 1, 1, 0, 0, 3, tzinfo=UTC)
    slimmer_for(Node)(node)
    assert (node.taints_edited, len(node.metadata.managed_fields)) == (edited, 1)


def test_other_kinds_stay_as_they_are() -> None:
    one = ConfigMap()
    assert slimmer_for(ConfigMap)(one) is one
