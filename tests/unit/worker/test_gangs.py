"""Which pods are of which gang, and who is told when that changes."""

from __future__ import annotations

from typing import Any, cast

import pytest
from msgspec.structs import replace

from bailiff.kinds import Pod
from bailiff.worker.gate.gangs import Gangs
from tests.harness.gating import shop_pod


class Told:
    """The mirror that is listened to, and who listens to the gangs."""

    def __init__(self) -> None:
        self.of: list[str] = []
        self.gangs = Gangs(cast(Any, self), self)

    def listen_to_pods(self, _listener: object) -> None:
        """Tests tell the gangs themselves."""

    def gang_changed(self, group: str) -> None:
        self.of.append(group)

    def came(self, pod: Pod) -> Pod:
        self.gangs.pod_changed((pod.metadata.namespace, pod.metadata.name), pod)
        return pod


@pytest.fixture
def told() -> Told:
    return Told()


def test_who_is_gone_is_no_longer_of_it(told: Told) -> None:
    a, b = (told.came(shop_pod(name, group="g")) for name in "ab")
    told.gangs.learn("shop/g", whole=True)
    assert told.gangs.others(a) == [b]
    told.of.clear()
    told.gangs.pod_gone(b)
    assert told.gangs.others(a) == []
    assert told.of == ["shop/g"]


def test_what_was_read_of_a_group_is_forgotten_with_its_last_pod(told: Told) -> None:
    pods = [told.came(shop_pod(name, group="g")) for name in "ab"]
    told.gangs.learn("shop/g", whole=True)
    told.gangs.pod_gone(pods[0])
    assert told.gangs.others(pods[1]) == []
    told.gangs.pod_gone(pods[1])
    again = told.came(shop_pod("c", group="g"))
    assert told.gangs.others(again) is None


def test_what_is_read_of_a_group_without_pods_is_not_kept(told: Told) -> None:
    told.gangs.learn("shop/g", whole=True)
    assert told.gangs.others(told.came(shop_pod(group="g"))) is None
    assert told.of == []


def test_a_group_of_which_nothing_was_read_goes_one_by_one(told: Told) -> None:
    pod = told.came(shop_pod(group="g"))
    told.gangs.learn("shop/g", whole=False)
    assert told.gangs.others(pod) is None
    told.gangs.pod_gone(pod)
    never_read = told.came(shop_pod(group="other"))
    told.gangs.pod_gone(never_read)
    told.gangs.pod_gone(shop_pod("in-no-group"))
    assert told.of == []


def test_a_change_of_what_no_rule_looks_at_is_not_told(told: Told) -> None:
    pod = told.came(shop_pod(group="g"))
    told.gangs.learn("shop/g", whole=True)
    told.gangs.learn("shop/g", whole=True)
    assert told.of == ["shop/g"]
    told.came(replace(pod, status=replace(pod.status, phase="Pending")))
    assert told.of == ["shop/g"]
    told.came(replace(pod, status=replace(pod.status, phase="Failed")))
    assert told.of == ["shop/g"] * 2
