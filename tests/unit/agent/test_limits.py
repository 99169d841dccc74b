"""Pods over limits of their own, whose evictions are not taken or take long, keep nobody else."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.cluster import (
    ForbiddenError,
    ServerError,
    TooManyRequestsError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.kinds import Pod
from tests.harness.agent_scene import CALM, HOG, MIB, AgentScene, pod

pytestmark = pytest.mark.looptime(start=0)


async def test_one_over_a_limit_of_its_own_that_cannot_go_keeps_no_disk_full(monkeypatch):
    scene = AgentScene(pod("over", limit="1Mi"), reclaims=True)
    scene.node.uses = {"over": 10 * MIB}
    scene.node.disk_free, scene.node.garbage = 10 * MIB, 400 * MIB
    scene.api.fails = ForbiddenError("a webhook says no", status=403)
    async with scene.running():
        await asyncio.sleep(5)
        assert scene.node.garbage == 0
        # And is not asked for each second.
        await asyncio.sleep(50)
        assert (
            scene.metrics.registry.get_sample_value(
                "bailiff_agent_attempts_total",
                {"eviction_signal": "ephemeralpodfs.limit", "fate": "refused"},
            )
            == 1.0
        )


@pytest.mark.parametrize("others", [1, 100])
async def test_those_over_limits_of_their_own_keep_no_memory_without_the_api_server(others):
    over = [pod(f"over-{number}", limit="1Mi") for number in range(others)]
    scene = AgentScene(HOG, CALM, *over, stops=True)
    scene.node.uses = {"hog": 750 * MIB, "calm": 50 * MIB} | {
        one.metadata.name: 2 * MIB for one in over
    }
    scene.node.uses["calm"] += 950 * MIB - sum(scene.node.uses.values())
    scene.api.fails, scene.api.takes = UnreachableError("no connection"), 5.0
    async with scene.running():
        await asyncio.sleep(30)
    assert [who for who, _ in scene.stopper.stopped] == ["hog"]


async def until_hog_goes(scene: AgentScene, within: float) -> None:
    """The memory is short, and hog has the most of it."""
    async with asyncio.timeout(within):
        while "hog" not in scene.api.deleted:
            await asyncio.sleep(0.5)
    assert "calm" not in scene.api.deleted


def over_limit(*others: Pod) -> AgentScene:
    scene = AgentScene(pod("hog", limit="100Mi"), CALM, *others)
    scene.node.uses = {"hog": 750 * MIB, "calm": 200 * MIB}
    return scene


@pytest.mark.parametrize(
    "error",
    [
        TooManyRequestsError("busy", status=429),
        UnauthorizedError("log in", status=401),
        ServerError("no etcd", status=500),
        UnreachableError("no connection"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_may_pass_sends_nobody_in_the_place_of_one_over_its_limit(error):
    scene = over_limit()
    scene.api.fails = error
    async with scene.running():
        await asyncio.sleep(1)
        scene.api.fails = None
        await until_hog_goes(scene, 5)


async def test_the_containers_of_one_over_its_limit_are_stopped_by_its_rank():
    scene = AgentScene(pod("hog", limit="100Mi"), CALM, stops=True)
    scene.node.uses = {"hog": 750 * MIB, "calm": 200 * MIB}
    scene.api.fails = UnreachableError("no connection")
    async with scene.running():
        await asyncio.sleep(10)
    assert [who for who, _ in scene.stopper.stopped] == ["hog"]


async def test_one_that_fails_sends_no_innocent_one_for_another_that_was_not_tried():
    scene = over_limit(pod("a", limit="1Mi"))
    scene.node.uses["a"] = 2 * MIB
    scene.tell_pods(pod("a", limit="1Mi"), pod("hog", limit="100Mi"), CALM)
    scene.api.fails = lambda name: ServerError(f"of {name}", status=500)
    async with scene.running():
        await asyncio.sleep(0.1)
        scene.api.fails = None
        await until_hog_goes(scene, 5)


async def test_one_that_hangs_keeps_nobody():
    """It was deleted long ago, is over its limit, and does not end."""
    scene = over_limit()
    gone_at = scene.clock.now() - timedelta(minutes=5)
    hung = pod("hung", limit="1Mi")
    hung = replace(hung, metadata=replace(hung.metadata, deletion_timestamp=gone_at))
    scene.tell_pods(hung, HOG, CALM)
    scene.node.uses["hung"] = 20 * MIB
    async with scene.running():
        await until_hog_goes(scene, 5)
    assert "hung" not in scene.api.deleted


async def test_one_that_was_refused_makes_nobody_wait_for_who_uses_more_than_it():
    scene = over_limit(pod("a", limit="10Mi"))
    scene.tell_pods(pod("a", limit="10Mi"), HOG, CALM)
    scene.node.uses |= {"hog": 100 * MIB, "a": 20 * MIB, "ghost": 40 * MIB}
    scene.api.fails = ForbiddenError("a webhook says no", status=403)
    async with scene.running():
        await asyncio.sleep(1)
        scene.api.fails = None
        scene.node.uses["hog"] = 700 * MIB
        await until_hog_goes(scene, 15)


async def test_many_that_go_slowly_keep_no_memory_short():
    many = [pod(f"over-{number}", limit="1Mi") for number in range(100)]
    scene = AgentScene(*many, HOG, CALM)
    scene.node.uses = {one.metadata.name: 2 * MIB for one in many} | {"hog": 300 * MIB, "calm": 1}
    scene.api.takes = 4.0
    async with scene.running():
        await asyncio.sleep(5)
        scene.node.uses["hog"] = 750 * MIB
        await until_hog_goes(scene, 90)


@pytest.mark.parametrize("is_shadow", [True, False])
async def test_on_paper_one_over_its_limit_hides_nobody_who_would_go(is_shadow, monkeypatch):
    over = pod("over", limit="1Mi")
    scene = AgentScene(over, HOG, CALM, shadow=is_shadow, dry_run=not is_shadow)
    scene.node.uses = {"over": 2 * MIB, "hog": 750 * MIB, "calm": 190 * MIB}

    async def keep_all(pod, grace):
        """As the API server does where everything is a dry run."""

    monkeypatch.setattr(scene.api, "delete", keep_all)
    async with scene.running():
        await asyncio.sleep(15)
    chosen = [one["pod"] for one in scene.standing.describe()["chosen"]]
    assert chosen == ["default/over", "default/hog"]
