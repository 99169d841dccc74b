"""A real API server whose audit log tells when each delete was asked for."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

from bailiff.cluster import Cluster, connect
from tests.chaos.fleet import Fleet
from tests.chaos.witness import AUDIT_POLICY, Deletions, Witness, read_audit
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.working import until


@dataclass
class Stage:
    """What every program here needs.

    Attributes:
        server: the API server.
        cluster: an administrator's way to it, by no proxy.
        witness: who sees pods go.
    """

    server: KubeApiserver
    cluster: Cluster
    witness: Witness
    _audit: Path

    def deletions(self) -> Deletions:
        """What the audit log tells so far."""
        return read_audit(self._audit)

    async def fleet(
        self, namespace: str, nodes: int, pods: int, tolerated: int = 0, *, bare: bool = False
    ) -> Fleet:
        """Pods that all tolerate the taint for so many seconds, spread over nodes."""
        fleet = Fleet(self.cluster, namespace)
        await fleet.set_up(nodes, bare=bare)
        await fleet.spread(pods, fleet.nodes, tolerated, shortest=tolerated)
        return fleet

    def left(self, fleet: Fleet) -> int:
        """How many of these pods have not gone."""
        gone = self.witness.ending.keys() | self.witness.vanished
        return len(fleet.pods.keys() - gone)

    async def all_gone(self, fleets: Iterable[Fleet], within: float) -> None:
        """Wait for that; whoever has not gone by then is counted by the caller."""
        with contextlib.suppress(TimeoutError):
            await until(lambda: not any(self.left(fleet) for fleet in fleets), within)


@contextlib.asynccontextmanager
async def stage() -> AsyncIterator[Stage]:
    """Start it all, and end it."""
    with tempfile.TemporaryDirectory(prefix="bailiff-acceptance-") as folder:
        audit, policy = Path(folder) / "audit.log", Path(folder) / "policy.yaml"
        policy.write_text(AUDIT_POLICY)
        flags = [f"--audit-policy-file={policy}", f"--audit-log-path={audit}"]
        with KubeApiserver(flags) as server:
            async with await connect(server.kubeconfig) as cluster:
                witness = Witness(server)
                looking = asyncio.create_task(witness.run())
                try:
                    yield Stage(server, cluster, witness, audit)
                finally:
                    looking.cancel()
                    await asyncio.gather(looking, return_exceptions=True)
