"""Counts over time on a real API server: two replicas, one ConfigMap, and what is in its way."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from bailiff.clock import SystemClock
from bailiff.cluster import CONFIG_MAPS
from bailiff.decisions.policies import Store
from bailiff.tally import Tally, TallyError
from tests.harness.objects import config_map
from tests.harness.tallies import budget, wishes


def settings_in(bench, evictions=10):
    return replace(budget(evictions, 3600), store=Store(namespace=bench.namespace, name="counts"))


async def test_two_replicas_never_let_more_go_than_the_budget(cluster, bench):
    settings = settings_in(bench)
    tallies = [Tally(cluster, SystemClock()) for _ in range(2)]
    found = await asyncio.gather(
        *(tallies[one % 2].count(wishes(settings, f"pod-{one}"), settings) for one in range(200))
    )
    assert sum(hold is None for hold in found) == 10
    written = await cluster.get(CONFIG_MAPS, "counts", bench.namespace)
    assert written.data["b"].count(":") == 10 + 3


async def test_labels_that_somebody_gave_it_stay(cluster, bench):
    await bench.cluster.create(CONFIG_MAPS, config_map("counts"), bench.namespace)
    body = {"metadata": {"labels": {"team": "ops"}}}
    await cluster.patch(CONFIG_MAPS, "counts", bench.namespace, body)
    settings = settings_in(bench)
    assert await Tally(cluster, SystemClock()).count(wishes(settings, "a"), settings) is None
    written = await cluster.get(CONFIG_MAPS, "counts", bench.namespace)
    assert written.metadata.labels == {"team": "ops"}


async def test_a_namespace_that_is_not_there_is_told(cluster, bench):
    settings = replace(budget(), store=Store(namespace="none-such", name="counts"))
    with pytest.raises(TallyError, match="none-such"):
        await Tally(cluster, SystemClock()).count(wishes(settings, "a"), settings)
