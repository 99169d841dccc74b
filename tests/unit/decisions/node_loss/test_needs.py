"""Whose pods are a DaemonSet's, and which must not be forced off without proof."""

from __future__ import annotations

import msgspec
import pytest

from bailiff.decisions.node_loss.needs import claim_names, claims_by_key, daemon_set_of, why_proof
from bailiff.kinds.daemon_set import DaemonSet
from bailiff.kinds.volume_claim import PersistentVolumeClaim
from tests.unit.decisions.node_loss.scene import a_pod, with_claim


def daemon_set(selector: object, namespace: str = "default") -> DaemonSet:
    body = {"metadata": {"name": "agent", "namespace": namespace}, "spec": {"selector": selector}}
    return msgspec.convert(body, DaemonSet)


BY_APP = {"matchLabels": {"app": "agent"}}
LABELLED = {"labels": {"app": "agent"}}


@pytest.mark.parametrize(
    ("pod", "sets", "found"),
    [
        (a_pod(owner="DaemonSet"), [], "of-web"),
        (a_pod(owner="", metadata=LABELLED), [daemon_set(BY_APP)], "agent"),
        # Its controller tells, whatever a selector says.
        (a_pod(owner="ReplicaSet", metadata=LABELLED), [daemon_set(BY_APP)], ""),
        (a_pod(owner="", metadata=LABELLED), [daemon_set(BY_APP, "other")], ""),
        (a_pod(owner="", metadata={"labels": {"app": "web"}}), [daemon_set(BY_APP)], ""),
        # What chooses everything is no selector, and a pod without labels is not chosen.
        (a_pod(owner="", metadata=LABELLED), [daemon_set({})], ""),
        (a_pod(owner="", metadata=LABELLED), [daemon_set(None)], ""),
        (
            a_pod(owner=""),
            [daemon_set({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]})],
            "",
        ),
        (
            a_pod(owner="", metadata=LABELLED),
            [daemon_set({"matchExpressions": [{"key": "app", "operator": "Near"}]})],
            "",
        ),
    ],
)
def test_whose_a_pod_is(pod, sets, found):
    assert daemon_set_of(pod, sets) == found


def claim(*modes: str) -> PersistentVolumeClaim:
    body = {
        "metadata": {"name": "disk", "namespace": "default"},
        "spec": {"accessModes": list(modes)},
    }
    return msgspec.convert(body, PersistentVolumeClaim)


@pytest.mark.parametrize(
    ("modes", "needs"),
    [
        (("ReadWriteOnce",), True),
        (("ReadWriteOncePod",), True),
        (("ReadWriteMany", "ReadWriteOnce"), True),
        ((), True),
        (("ReadWriteMany",), False),
        (("ReadOnlyMany",), False),
    ],
)
def test_a_volume_that_one_node_may_use_needs_proof(modes, needs):
    known = claims_by_key([claim(*modes)])
    assert bool(why_proof(with_claim("web", "disk"), known)) is needs


def test_a_claim_that_nobody_knows_needs_proof():
    assert "volume claim disk" in why_proof(with_claim("web", "disk"), {})


def test_a_pod_of_a_stateful_set_needs_proof_and_one_of_a_replica_set_does_not():
    assert "StatefulSet of-db" in why_proof(a_pod("db", owner="StatefulSet"), {})
    assert why_proof(a_pod(), {}) == ""


def test_an_ephemeral_volume_has_the_claim_of_its_pod():
    volumes = [{"name": "scratch", "ephemeral": {}}, {"name": "tmp", "emptyDir": {}}]
    assert claim_names(a_pod("web", spec={"volumes": volumes})) == ("web-scratch",)
