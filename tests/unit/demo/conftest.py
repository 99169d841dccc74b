"""Fixtures: an empty cluster in which nothing happens by itself, and a client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from bailiff_demo import DemoCluster, DemoSettings
from tests.unit.demo.api import Client, HandClock

_HERE = Path(__file__).parent
# Whoever asks for one of these talks to a cluster over HTTP.
_SERVED = {"cluster", "api", "kubectl"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == _HERE and _SERVED & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.demo)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def settings() -> DemoSettings:
    return DemoSettings(history=50, future_version_seconds=0.05)


@pytest.fixture
async def cluster(clock: HandClock, settings: DemoSettings) -> AsyncIterator[DemoCluster]:
    async with DemoCluster(clock=clock, lively=False, settings=settings) as cluster:
        yield cluster


@pytest.fixture
async def api(cluster: DemoCluster) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(cluster, session)
