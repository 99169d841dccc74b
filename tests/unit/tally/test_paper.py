"""Counting on paper: beside what others count, and nothing is written."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.decisions.policies.over_time_columns import MARGIN
from tests.harness.tallies import (
    OneConfigMap,
    budget,
    node_budget,
    other_store,
    tally_of,
    tries,
    wishes,
)

pytestmark = pytest.mark.looptime

TWO = budget(2)


@pytest.fixture
def server() -> OneConfigMap:
    return OneConfigMap()


async def test_on_paper_one_keeps_what_he_counts_himself_and_nothing_of_others(
    server: OneConfigMap,
) -> None:
    tally = tally_of(server)
    paper = tally.on_paper()
    await tries(tally, "a")
    assert [one is None for one in await tries(paper, "bc")] == [True, False]
    # Somebody frees the place of a, and b stands on paper only.
    server.delete()
    await asyncio.sleep(1.1)
    assert [one is None for one in await tries(paper, "cd")] == [True, False]


async def test_on_paper_another_configmap_starts_over(server: OneConfigMap) -> None:
    paper = tally_of(server).on_paper()
    await tries(paper, "ab")
    assert await tries(paper, "cd", other_store(TWO, "another")) == [None, None]


async def test_a_node_counts_by_its_last_eviction_whoever_made_it(server: OneConfigMap) -> None:
    """All pods here are of one node: on paper it went first, in earnest last."""
    tally, nodes = tally_of(server), node_budget(1)
    paper = tally.on_paper()
    await tries(paper, "a", nodes)
    await asyncio.sleep(30)
    await tries(tally, "b", nodes)
    await asyncio.sleep(60 + MARGIN - 10)
    wish = wishes(nodes, "c")[0]
    held = await paper.look([wish._replace(node="another")], nodes)
    assert held is not None
