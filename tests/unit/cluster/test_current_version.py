"""The version that a resource is at, by which a watch is told from one that has been rewound."""

from __future__ import annotations

import asyncio
from typing import cast

from bailiff.cluster import PODS, Cluster, ClusterSettings, Request, Selection
from bailiff.cluster.transport import Transport


class Answering:
    """Answers every request with a list at version 7, and keeps the request."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def send(self, request: Request, within: float | None = None) -> bytes:
        assert within is None or within > 0
        self.asked.append(request)
        return b'{"metadata": {"resourceVersion": "7"}, "items": []}'


def test_it_is_asked_of_the_same_selection_and_costs_one_object() -> None:
    answering = Answering()
    transport = cast("Transport", answering)
    cluster = Cluster(transport, ClusterSettings(), transport)
    selection = Selection(namespace="n", label_selector="app=web")
    assert asyncio.run(cluster.current_version(PODS, selection)) == "7"
    (asked,) = answering.asked
    # No resourceVersion in the query: a quorum read, never older than what anybody has seen.
    assert (asked.method, asked.path, asked.query) == (
        "GET",
        "/api/v1/namespaces/n/pods",
        {"labelSelector": "app=web", "limit": "1"},
    )
