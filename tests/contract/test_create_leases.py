"""`bailiff leases create` on an API server: what workers need, and nothing twice."""

from __future__ import annotations

import asyncio
import sys

from bailiff.cluster import LEASES

COMMAND = (sys.executable, "-m", "bailiff", "leases", "create", "--kubeconfig")


async def created(api, *options):
    """Its exit code, and what it says."""
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, str(api.kubeconfig), *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, complained = await process.communicate()
    return process.returncode, (said or complained).decode()


async def test_a_lease_for_each_shard_and_those_that_there_are_stay(api, cluster, bench):
    where = ("--lease-namespace", bench.namespace, "--lease-name", "evictions", "--shards", "2")
    names = [f"evictions-{index}-of-2" for index in range(2)]
    code, said = await created(api, *where)
    assert code == 0
    assert said.splitlines() == [f"Lease {bench.namespace}/{name} created" for name in names]
    held = {"spec": {"holderIdentity": "somebody"}}
    before = await cluster.patch(LEASES, names[1], bench.namespace, held)
    await cluster.delete(LEASES, names[0], bench.namespace)
    code, said = await created(api, *where)
    assert code == 0
    assert said.splitlines() == [
        f"Lease {bench.namespace}/{names[0]} created",
        f"Lease {bench.namespace}/{names[1]} is there already",
    ]
    assert await cluster.get(LEASES, names[1], bench.namespace) == before


async def test_a_namespace_that_there_is_not_is_said(api, cluster):
    code, said = await created(api, "--lease-namespace", "nowhere-at-all")
    assert code == 1
    assert "nowhere-at-all" in said
