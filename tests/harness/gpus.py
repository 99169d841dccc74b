"""A node with devices on an API server, pods that use them, and what taints them."""

from __future__ import annotations

import contextlib
import secrets
from typing import TYPE_CHECKING, Any

from bailiff.cluster import NotFoundError, PatchType
from tests.harness.api import PODS, uid_of
from tests.harness.device_objects import (
    CLAIMS,
    DRIVER,
    RULES,
    SLICES,
    allocation,
    claim,
    rule,
    slice_of,
    write_claim,
)
from tests.harness.objects import container, pod_object

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.harness.api import Bench
    from tests.harness.objects import Object


class Gpus:
    """A node whose pool bears its name; devices gpu-0 and gpu-1."""

    def __init__(self, bench: Bench, name: str) -> None:
        self.bench = bench
        self.name = name
        self.node = ""

    async def set_up(self) -> None:
        self.node = await self.bench.node()
        await self.bench.cluster.create(SLICES, slice_of(self.name), "")

    async def clear_away(self) -> None:
        for resource in (SLICES, RULES):
            with contextlib.suppress(NotFoundError):
                await self.bench.cluster.delete(resource, self.name, "")

    async def taint(self, *taints: Object) -> None:
        """Replace the taints of gpu-0."""
        devices = [{"name": "gpu-0", "taints": list(taints)}, {"name": "gpu-1"}]
        body = {"spec": {"devices": devices}}
        await self.bench.cluster.patch(SLICES, self.name, "", body, patch_type=PatchType.MERGE)

    async def rule(self, effect: str = "NoExecute") -> Object:
        """A rule for the whole pool."""
        body = rule(self.name, effect, driver=DRIVER, pool=self.name)
        return await self.bench.cluster.create(RULES, body, "")

    async def pod(self, name: str, *tolerations: Object) -> Object:
        """A pod with a claim to which gpu-0 is allocated, as a scheduler leaves it."""
        bench = self.bench
        await bench.cluster.create(CLAIMS, claim(name), bench.namespace)
        named = [{"name": "gpu", "resourceClaimName": name}]
        main = container() | {"resources": {"claims": [{"name": "gpu"}]}}
        body = pod_object(name, nodeName=self.node, containers=[main], resourceClaims=named)
        pod = await bench.cluster.create(PODS, body, bench.namespace)
        consumer = {"resource": "pods", "name": name, "uid": uid_of(pod)}
        allocated = allocation(self.name, tolerations=list(tolerations))
        await write_claim(bench, name, allocation=allocated, reservedFor=[consumer])
        return pod

    async def condition(self) -> dict[str, Any]:
        """EvictionInProgress of the rule; empty before it is written."""
        found = await self.bench.cluster.get(RULES, self.name)
        conditions = found.get("status", {}).get("conditions", [])
        return next((c for c in conditions if c["type"] == "EvictionInProgress"), {})

    async def completed(self) -> bool:
        """Whether the worker says that nothing is left to evict for the rule."""
        return (await self.condition()).get("reason") == "Completed"


@contextlib.asynccontextmanager
async def gpus_of(bench: Bench) -> AsyncIterator[Gpus]:
    """A node with devices, cleared away at the end."""
    gpus = Gpus(bench, f"pool-{secrets.token_hex(4)}")
    await gpus.set_up()
    try:
        yield gpus
    finally:
        await gpus.clear_away()
