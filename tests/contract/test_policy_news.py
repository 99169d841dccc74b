"""Warnings about weakened policies, as an API server takes them."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from prometheus_client import CollectorRegistry

from bailiff.bootstrap.choices import ClusterChoice
from bailiff.bootstrap.policy_news import policy_news
from bailiff.bootstrap.settings import WorkSettings
from bailiff.clock import SystemClock
from bailiff.cluster import LeaseStore
from bailiff.worker import Elector, Shard, Unopposed
from tests.harness.working import EVENTS, until


class Listener:
    """Somebody who would lead."""

    def may_claim(self) -> bool:
        return True

    def started_leading(self, shard: Shard) -> None:
        """Nothing follows."""

    async def lost_shard(self) -> None:
        """Nothing follows."""

    def new_leader(self) -> None:
        """Nothing follows."""


@contextlib.asynccontextmanager
async def elected(cluster, namespace):
    store = LeaseStore(cluster, namespace, "news-0-of-1")
    await store.create()
    elector = Elector({Shard(): store}, SystemClock(), "me")
    task = asyncio.create_task(elector.run(Listener()))
    assert elector.held_lease is None
    await until(elector.may_act)
    yield elector
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def found(cluster, namespace, name):
    listing = await cluster.list(EVENTS, namespace=namespace)
    return [one for one in listing.items if one["involvedObject"]["name"] == name]


@pytest.mark.parametrize("with_lease", [True, False])
async def test_the_event_is_about_the_lease_or_a_namespace(cluster, bench, with_lease):
    clock, settings = SystemClock(), WorkSettings(cluster=ClusterChoice())
    async with contextlib.AsyncExitStack() as stack:
        election = Unopposed()
        where, name = "default", "kube-system"
        if with_lease:
            election = await stack.enter_async_context(elected(cluster, bench.namespace))
            where, name = bench.namespace, "news-0-of-1"
        news = policy_news(settings, cluster, election, clock, CollectorRegistry())
        task = asyncio.create_task(news.run())
        news.weakened(["protection: switched off"], bench.namespace)

        async def events():
            of_test = await found(cluster, where, name)
            return [one for one in of_test if bench.namespace in one["message"]]

        await until(events)
        task.cancel()
    (event,) = await events()
    assert (event["type"], event["reason"]) == ("Warning", "PoliciesWeakened")
    assert bool(event["involvedObject"].get("uid")) is with_lease
