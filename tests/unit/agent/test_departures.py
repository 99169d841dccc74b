"""Who is waited for after an eviction, and for how long: on virtual time."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from bailiff.decisions.pressure.findings import spared
from bailiff.decisions.text import describe_time
from bailiff.kinds import Pod, decode
from tests.harness.agent_scene import CALM, HOG, MIB, AgentScene, pod, pressed, soft

pytestmark = pytest.mark.looptime(start=0)


async def test_after_an_eviction_nobody_else_goes_until_the_pod_has_left():
    scene = pressed()
    scene.tell_pods(HOG, CALM, pod("third"))
    scene.node.uses |= {"third": 40 * MIB}
    scene.node.lies_there = {"uid-hog"}
    async with scene.running():
        await asyncio.sleep(12)
        assert scene.node.looks == [0]
        scene.node.lies_there.clear()
        await asyncio.sleep(1.5)
        # And then a round at once.
        assert scene.node.looks == [0, 12]
    assert scene.api.deleted == ["hog"]


async def test_one_that_does_not_leave_is_waited_for_for_half_a_minute():
    scene = pressed()
    scene.node.lies_there = {"uid-hog"}
    async with scene.running():
        await asyncio.sleep(31)
    assert scene.node.looks == [0, 30]


async def test_several_that_go_are_waited_for_together():
    limited = [pod(f"p{number}", limit="1Mi") for number in range(3)]
    scene = AgentScene(*limited)
    scene.node.uses = {f"p{number}": 10 * MIB for number in range(3)}
    scene.node.lies_there = {f"uid-p{number}" for number in range(3)}
    async with scene.running():
        await asyncio.sleep(31)
    assert sorted(scene.api.deleted) == ["p0", "p1", "p2"]
    assert scene.node.looks == [0, 30]


async def test_an_agent_that_ends_waits_for_nobody_to_leave():
    scene = pressed()
    scene.node.lies_there = {"uid-hog"}
    acting = asyncio.create_task(scene.rounds.run())
    await asyncio.sleep(0.5)
    scene.rounds.end()
    async with asyncio.timeout(2):
        await acting


def evicted(name: str, seconds_ago: float, clock) -> Pod:
    at = describe_time(clock.now() - timedelta(seconds=seconds_ago))
    body = {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"nodeName": "node", "containers": [{"name": "main"}]},
        "status": {
            "phase": "Failed",
            "reason": "Evicted",
            "conditions": [
                {
                    "type": "DisruptionTarget",
                    "status": "True",
                    "reason": "TerminationByKubelet",
                    "message": "The node was low on resource: memory.",
                    "lastTransitionTime": at,
                }
            ],
        },
    }
    return decode(msgspec.json.encode(body), Pod)


async def test_all_of_before_are_waited_for_at_once():
    scene = AgentScene()
    those = [evicted(f"pod-{number}", 5, scene.clock) for number in range(32)]
    scene.tell_pods(*those)
    scene.node.lies_there = {one.metadata.uid for one in those}
    async with scene.running():
        await asyncio.sleep(27)
    assert scene.node.looks[0] == pytest.approx(25, abs=1.1)


def with_two_minutes() -> tuple[AgentScene, Pod, Pod]:
    """The first of two goes for a soft threshold of ten seconds, with two minutes to end."""
    first, second = pod("first", priority=-1), pod("second")
    first = replace(first, spec=replace(first.spec, termination_grace_period_seconds=120))
    limits = replace(soft("10s"), eviction_max_pod_grace_period=120)
    scene = AgentScene(first, second, configuration=limits)
    scene.node.uses = {"first": 300 * MIB, "second": 620 * MIB}
    scene.stays_in_the_api = {"first"}
    return scene, first, second


async def test_for_a_soft_threshold_nobody_else_goes_before_the_grace_period_is_over():
    """As with the kubelet, which waits for the pod to end."""
    scene, first, second = with_two_minutes()
    scene.node.lies_there = {"uid-first"}
    async with scene.running():
        await asyncio.sleep(11)
        assert scene.api.deleted == ["first"]
        scene.node.uses["first"] = 300 * MIB
        scene.tell_pods(replace(first, status=replace(first.status, phase="Failed")), second)
        await asyncio.sleep(90)
        assert scene.api.deleted == ["first"]
        # With rounds as often as ever: a hard threshold, and the kernel, may say more meanwhile.
        assert scene.node.looks[-3:] == pytest.approx([80, 90, 100], abs=2)
        assert "has not left yet" in scene.standing.describe()["waits"]
        await asyncio.sleep(60)
        # By then its time is over, whatever it does.
        assert scene.api.deleted == ["first", "second"]


async def test_for_one_that_was_unseen_a_soft_threshold_waits_until_the_api_says_so(monkeypatch):
    scene, first, second = with_two_minutes()
    has_gone = scene.node.has_gone
    monkeypatch.setattr(scene.node, "has_gone", lambda uid: uid == "uid-first" or has_gone(uid))
    async with scene.running():
        await asyncio.sleep(11)
        assert scene.api.deleted == ["first"]
        scene.node.uses["first"] = 300 * MIB
        scene.tell_pods(replace(first, status=replace(first.status, phase="Failed")), second)
        await asyncio.sleep(90)
    assert scene.api.deleted == ["first"]


async def test_who_lay_there_evicted_before_a_shadow_began_is_no_miss():
    scene = AgentScene(shadow=True)
    scene.facts._listed = False
    scene.tell_pods(CALM, evicted("old", 86400, scene.clock))
    scene.tell_pods(CALM, evicted("old", 86400, scene.clock), evicted("new", 0, scene.clock))
    missed = [one["pod"] for one in scene.standing.describe()["missed"]]
    assert missed == ["default/new"]


async def test_whom_a_shadow_has_chosen_long_ago_is_no_miss():
    """It tells of the newest, and knows of more."""
    scene = AgentScene(shadow=True)
    found = spared("x", "x", ())
    pods = [pod(f"pod-{number}") for number in range(200)]
    for one in pods:
        scene.standing.chosen(one, found, scene.clock.now())
    scene.facts._listed = True
    status = replace(HOG.status, phase="Failed", reason="Evicted")
    for one in pods:
        scene.standing.see(replace(one, status=status))
    told = scene.standing.describe()
    assert told["missed"] == []
    assert [one["pod"] for one in told["chosen"]][-1] == "default/pod-199"
    assert len(told["chosen"]) == 64


async def test_where_a_kubelet_measures_the_next_round_goes_by_what_it_measured_since(monkeypatch):
    scene = pressed()
    anew: list[float] = []

    async def read_anew(pods):
        anew.append(asyncio.get_running_loop().time())
        await asyncio.sleep(8)
        return await scene.node.read(pods)

    monkeypatch.setattr(scene.node, "has_gone", lambda _: None)
    monkeypatch.setattr(scene.node, "read_anew", read_anew)
    async with scene.running():
        await asyncio.sleep(9)
    assert anew == [0]
    assert scene.node.looks[:2] == [0, 8]


WHO_LEAVES = "an agent of before has evicted default/gone, which has not left yet"


@pytest.mark.parametrize(("seconds_ago", "waits"), [(5, 25), (29, 1), (40, 0), (-3600, 0)])
async def test_after_a_restart_those_are_waited_for_that_were_evicted_a_moment_ago(
    seconds_ago, waits
):
    scene = pressed()
    gone = evicted("gone", seconds_ago, scene.clock)
    scene.tell_pods(HOG, CALM, gone)
    scene.node.uses |= {"gone": 0}
    scene.node.lies_there = {"uid-gone"}
    async with scene.running():
        await asyncio.sleep(0.1)
        told = scene.standing.unknown
        assert told == (WHO_LEAVES if waits else "")
        await asyncio.sleep(28)
    assert scene.node.looks[0] == pytest.approx(waits, abs=1)
