"""The chart's worker on the session's API server: its account, under the chart's admission."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from bailiff.cluster import connect
from tests.harness.api import NAMESPACES
from tests.harness.helm.accounts import log_in
from tests.harness.helm.admission import hold_admission
from tests.harness.objects import object_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness.kube.apiserver import KubeApiserver

NAMESPACE = "bailiff-chart"
# All that gives the worker more rights, but a pause: that is of one namespace.
VALUES = {
    "worker": {
        "pressure": {"enabled": True, "kubelets": {"viaApiServer": "where-unreachable"}},
        "nodeLoss": {"enabled": True, "fence": {"secretName": "fence", "taint": True}},
        "policies": {
            "evictionApi": {"deadlineSeconds": 0},
            "exclude": {"namespaceSelector": {"matchLabels": {"evictions": "never"}}},
        },
    }
}


@pytest.fixture(scope="session")
def chart_worker(kube_apiserver: KubeApiserver) -> Path:
    """A kubeconfig of the worker's account, with the chart's rights and admission policies."""
    # A test's own loop may be running in this thread.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _install(kube_apiserver)).result()


async def _install(server: KubeApiserver) -> Path:
    async with await connect(server.kubeconfig) as cluster:
        await cluster.create(NAMESPACES, object_of("Namespace", NAMESPACE))
    account = await log_in(server, "worker", NAMESPACE, values=VALUES)
    await hold_admission(server, account, NAMESPACE, VALUES)
    return account
