"""Our ListWatch against a server that misbehaves in every way a server can."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import pytest

from bailiff import cluster as k8s
from bailiff.clock import SystemClock
from bailiff.cluster import (
    Changed,
    Cluster,
    ClusterSettings,
    Deleted,
    ListWatch,
    Replaced,
    Restart,
    Selection,
    Unreadable,
    WatchEvent,
)
from bailiff.kinds import Node, Pod
from tests.harness.api import Api, Bench
from tests.harness.kube.relay import Relay
from tests.harness.watching import PATIENCE, CountedWatch

if TYPE_CHECKING:
    from pathlib import Path

Events: TypeAlias = AsyncGenerator[WatchEvent[Pod], None]

YEAR_0 = "0000-01-01T00:00:00Z"

# Small waits, so that a test of them is short; none of them is asserted.
QUICK = ClusterSettings(page_size=2, backoff_min=0.05, backoff_max=0.2)


@pytest.fixture(params=["initial events", "pages"])
def settings(request: pytest.FixtureRequest) -> ClusterSettings:
    """Both ways to begin."""
    return replace(QUICK, watch_initial_events=request.param == "initial events")


def list_watch(cluster: Cluster, namespace: str) -> CountedWatch:
    return CountedWatch(cluster, SystemClock(), selection=Selection(namespace=namespace))


async def following(events: Events) -> WatchEvent[Pod]:
    async with asyncio.timeout(PATIENCE):
        return await anext(events)


async def until_restart(watch: CountedWatch, events: Events, why: Restart) -> WatchEvent[Pod]:
    """The next event, which must have come after a restart for this reason."""
    event = await following(events)
    assert watch.restarts[why] >= 1, watch.health
    return event


async def until_deleted(events: Events) -> Deleted[Pod]:
    """The deletion that comes next; a server may show it as a change first."""
    event = await following(events)
    while not isinstance(event, Deleted):
        assert isinstance(event, Changed)
        assert event.object.is_terminating
        event = await following(events)
    return event


def names(event: WatchEvent[Pod]) -> set[str]:
    assert isinstance(event, Replaced), event
    return {pod.metadata.name for pod in event.items}


@asynccontextmanager
async def through_relay(
    api: Api, folder: Path, settings: ClusterSettings
) -> AsyncIterator[tuple[Relay, Cluster]]:
    async with Relay(api.port) as relay:
        kubeconfig = api.kubeconfig_for_port(relay.port, folder)
        async with await k8s.connect(kubeconfig, settings=settings) as cluster:
            yield relay, cluster


async def test_it_begins_with_the_whole_and_goes_on_with_changes(
    api: Api, bench: Bench, settings: ClusterSettings
) -> None:
    for name in ("a", "b", "c"):
        await bench.pod(name)
    async with await api.connect(settings) as cluster:
        watch = list_watch(cluster, bench.namespace)
        async with aclosing(watch.events()) as events:
            assert names(await following(events)) == {"a", "b", "c"}
            assert watch.health.synced
            pod = await bench.pod("d")
            assert isinstance(await following(events), Changed)
            await bench.set_status(pod, phase="Running")
            changed = await following(events)
            await bench.remove("d")
            deleted = await until_deleted(events)
    assert isinstance(changed, Changed)
    assert changed.object.status.phase == "Running"
    assert deleted.object.metadata.name == "d"
    assert watch.health.resource_version == deleted.object.metadata.resource_version
    assert not any(watch.restarts.values())
    assert not watch.health.connected


async def test_compressed_it_tells_of_each_change_as_it_comes(api: Api, bench: Bench) -> None:
    # Since Kubernetes 1.37 a watch that begins with its objects is compressed, each event alone.
    await bench.pod("a")
    async with await api.connect(replace(QUICK, compression=True)) as cluster:
        watch = list_watch(cluster, bench.namespace)
        async with aclosing(watch.events()) as events:
            assert names(await following(events)) == {"a"}
            for name in ("b", "c"):
                await bench.pod(name)
                changed = await following(events)
                assert isinstance(changed, Changed)
                assert changed.object.metadata.name == name
    assert not any(watch.restarts.values())


async def test_it_begins_with_nothing_where_nothing_is(
    api: Api, bench: Bench, settings: ClusterSettings
) -> None:
    async with (
        await api.connect(settings) as cluster,
        aclosing(list_watch(cluster, bench.namespace).events()) as events,
    ):
        assert names(await following(events)) == set()


async def test_it_resumes_after_a_broken_connection_and_misses_nothing(
    api: Api, bench: Bench, settings: ClusterSettings, tmp_path: Path
) -> None:
    async with through_relay(api, tmp_path, settings) as (relay, cluster):
        watch = list_watch(cluster, bench.namespace)
        async with aclosing(watch.events()) as events:
            assert names(await following(events)) == set()
            await bench.pod("a")
            assert isinstance(await following(events), Changed)
            await relay.cut()
            await bench.remove("a")
            await bench.pod("b")
            deleted = await until_deleted(events)
            changed = await following(events)
    assert watch.restarts[Restart.DISCONNECTED] == 1
    assert deleted.object.metadata.name == "a"
    assert isinstance(changed, Changed)
    assert changed.object.metadata.name == "b"
    assert watch.health.synced


async def test_it_notices_a_connection_that_has_fallen_silent(
    api: Api, bench: Bench, settings: ClusterSettings, tmp_path: Path
) -> None:
    impatient = replace(settings, watch_idle_timeout=0.5)
    async with through_relay(api, tmp_path, impatient) as (relay, cluster):
        watch = list_watch(cluster, bench.namespace)
        async with aclosing(watch.events()) as events:
            await following(events)
            await bench.pod("a")
            assert isinstance(await following(events), Changed)
            relay.freeze()
            await bench.pod("b")
            waiting = asyncio.create_task(following(events))
            await _until(lambda: watch.restarts[Restart.IDLE] >= 1)
            relay.thaw()
            event = await waiting
    assert isinstance(event, Changed)
    assert event.object.metadata.name == "b"


async def test_it_goes_on_when_the_server_ends_the_watch(
    api: Api, bench: Bench, settings: ClusterSettings
) -> None:
    short = replace(settings, watch_timeout_min=1, watch_timeout_max=1)
    async with await api.connect(short) as cluster:
        watch = list_watch(cluster, bench.namespace)
        async with aclosing(watch.events()) as events:
            await following(events)
            waiting = asyncio.create_task(following(events))
            await _until(lambda: watch.restarts[Restart.ENDED] >= 2)
            await bench.pod("a")
            assert isinstance(await waiting, Changed)


async def test_it_reads_everything_again_when_the_server_has_forgotten(
    api: Api, bench: Bench, settings: ClusterSettings, tmp_path: Path
) -> None:
    async with through_relay(api, tmp_path, settings) as (relay, cluster):
        watch = list_watch(cluster, bench.namespace)
        await bench.pod("old")
        async with aclosing(watch.events()) as events:
            assert names(await following(events)) == {"old"}
            relay.freeze()
            await bench.remove("old")
            await bench.pod("new")
            await api.forget_history()
            await relay.cut()
            relay.thaw()
            event = await until_restart(watch, events, Restart.EXPIRED)
            assert names(event) == {"new"}
            assert watch.health.synced


async def test_it_reads_everything_again_when_the_server_has_never_heard_of_the_version(
    api: Api, bench: Bench, settings: ClusterSettings
) -> None:
    await bench.pod("a")
    async with await api.connect(settings) as cluster:
        watch = list_watch(cluster, bench.namespace)
        # As if the cluster had been restored from an old backup meanwhile.
        watch.health.resource_version = "999999999999"
        async with aclosing(watch.events()) as events:
            assert names(await following(events)) == {"a"}
    assert watch.restarts[Restart.REWOUND] == 1


async def test_it_waits_for_a_server_that_is_not_there_yet(
    api: Api, bench: Bench, settings: ClusterSettings, tmp_path: Path
) -> None:
    async with Relay(api.port) as relay:
        port = relay.port
    kubeconfig = api.kubeconfig_for_port(port, tmp_path)
    async with await k8s.connect(kubeconfig, settings=settings) as cluster:
        watch = list_watch(cluster, bench.namespace)
        async with aclosing(watch.events()) as events:
            waiting = asyncio.create_task(following(events))
            await _until(lambda: watch.restarts[Restart.DISCONNECTED] >= 2)
            assert not watch.health.synced
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
    assert isinstance(watch.health.last_error, k8s.UnreachableError)


# The demo cluster takes no such time.
@pytest.mark.kube_apiserver
async def test_a_node_whose_time_is_of_the_year_0_is_told_of_and_others_go_on(
    api: Api, bench: Bench, settings: ClusterSettings
) -> None:
    bad = await bench.node({"key": "k", "effect": "NoExecute", "timeAdded": YEAR_0})
    good = await bench.node()
    told: list[str] = []
    unreadable: list[Unreadable] = []
    async with await api.connect(settings) as cluster:
        watch = ListWatch(
            cluster,
            k8s.NODES,
            SystemClock(),
            on_restart=lambda cause, error: told.append(f"{cause} {error}"),
            on_unreadable=unreadable.append,
        )
        async with aclosing(watch.events()) as events:
            whole = await following_node(events)
            assert isinstance(whole, Replaced)
            assert bad not in {node.metadata.name for node in whole.items}
            assert good in {node.metadata.name for node in whole.items}
            assert bad in {one.metadata.name for one in whole.unreadable}
            await bench.taint(bad, {"key": "k", "effect": "NoExecute"})
            seen = await following_node(events)
            while not (isinstance(seen, Changed) and seen.object.metadata.name == bad):
                seen = await following_node(events)
    assert not told
    assert {one.metadata.name for one in unreadable} == {bad}


async def following_node(events: AsyncGenerator[WatchEvent[Node], None]) -> WatchEvent[Node]:
    async with asyncio.timeout(PATIENCE):
        return await anext(events)


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.02)
