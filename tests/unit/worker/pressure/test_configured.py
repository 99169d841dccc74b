"""By which configuration a node is judged, and when its kubelet is asked for it anew."""

from __future__ import annotations

import msgspec
import pytest

from bailiff.cluster.kubelets import KubeletUnreachableError
from bailiff.kinds import Node
from bailiff.worker.systems.pressure.following import Configured
from tests.harness.clocks import ManualClock


class Source:
    """Has another number of pods in its configuration each time it is asked."""

    is_busy = False

    def __init__(self) -> None:
        self.asked = 0
        self.broken = False

    async def configuration(self, node: Node) -> bytes:
        if self.broken:
            raise KubeletUnreachableError("connection refused")
        self.asked += 1
        return b'{"kubeletconfig":{"evictionMaxPodGracePeriod":%d}}' % self.asked

    async def summary(self, node: Node):
        return None


def node_with(uid: str = "u1", version: str = "v1.37.1") -> Node:
    told = {"metadata": {"name": "n1", "uid": uid}}
    return msgspec.convert(told | {"status": {"nodeInfo": {"kubeletVersion": version}}}, Node)


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def configured(source) -> Configured:
    return Configured(source, ManualClock(), None)


def known(configured: Configured) -> int | None:
    found = configured.of("n1")
    return None if found is None else found.eviction_max_pod_grace_period


async def test_the_same_node_is_not_asked_again_at_once(configured, source):
    for _ in range(2):
        await configured.summary(node_with())
    assert (source.asked, known(configured)) == (1, 1)


OTHERS = pytest.mark.parametrize("other", [node_with(uid="u2"), node_with(version="v1.38.0")])


@OTHERS
async def test_one_that_was_made_or_started_anew_is(configured, source, other):
    await configured.summary(node_with())
    await configured.summary(other)
    assert (source.asked, known(configured)) == (2, 2)


@OTHERS
async def test_by_what_the_one_before_had_it_is_not_judged(configured, source, other):
    await configured.summary(node_with())
    source.broken = True
    await configured.summary(node_with())
    with pytest.raises(KubeletUnreachableError):
        await configured.summary(other)


async def test_of_a_node_that_is_read_no_more_nothing_is_kept(configured, source):
    await configured.summary(node_with())
    configured.forget("n1")
    assert known(configured) is None
    await configured.summary(node_with())
    assert (source.asked, known(configured)) == (2, 2)
