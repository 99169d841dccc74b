"""`python -m tests.chaos`: nothing lost, early, twice, or under a wrong UID, whatever breaks.

On a real kube-apiserver with etcd, in four parts, each with a worker or two of its own:

1. Timed evictions by a worker that reaches the server through a proxy that drops, delays,
   truncates and refuses; the worker is killed and restarted, the API server too, etcd compacted
   under its watch; pods are replaced under their names, a node is untainted in time.
2. Taints that go and come back, seen by the worker, while it is away, and while it is not let
   clear what it wrote on the nodes. Meanwhile its wall clock is an hour ahead, an hour behind;
   everything is answered 404, or 429; deletes are denied; watches expire again and again.
3. Two workers with one Lease, whose leader is stopped and continued, and with client certificates
   that expire and are rotated in place.
4. Nodes that fall silent for good or for a while, that say that they are not ready, and a zone
   that is cut off, while the worker is killed; some are tainted by hand as out of service.

An independent watch and the server's audit log tell what came of it. About eight minutes, `--quick`
one. Exits 1 where a count that must be nought is not, 3 where KUBEBUILDER_ASSETS is not set.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import secrets
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import uvloop

from bailiff.cluster import connect
from tests.chaos.losing import nodes_that_fall_silent
from tests.chaos.plan import PLANS, Plan
from tests.chaos.scenarios import Told, timed_evictions, two_workers
from tests.chaos.turning import taints_that_return
from tests.chaos.verdict import Verdict, judge
from tests.chaos.witness import AUDIT_POLICY, Witness, deletes_in, read_audit
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.programs import WHY_NOT, assets

if TYPE_CHECKING:
    from tests.chaos.fleet import Fleet
    from tests.chaos.losing import Losses

_NO_ASSETS = 3


def run(plan: Plan, seed: int, logs: Path | None = None) -> tuple[dict[str, Verdict], Told]:
    """All of it, on an API server of its own; a verdict for each scenario.

    Args:
        plan: how much of everything.
        seed: of all that is left to chance.
        logs: a folder for what the programs, workers included, have logged.
    """
    with tempfile.TemporaryDirectory(prefix="bailiff-chaos-") as folder:
        audit, policy = Path(folder) / "audit.log", Path(folder) / "policy.yaml"
        policy.write_text(AUDIT_POLICY)
        flags = [f"--audit-policy-file={policy}", f"--audit-log-path={audit}"]
        with KubeApiserver(flags, keep_logs=logs) as server:
            return uvloop.run(_run(server, audit, plan, seed))


async def _run(
    server: KubeApiserver, audit: Path, plan: Plan, seed: int
) -> tuple[dict[str, Verdict], Told]:
    told, witness = Told(), Witness(server)
    async with await connect(server.kubeconfig) as cluster:
        looking = asyncio.create_task(witness.run())
        fleets: dict[str, Fleet] = {}
        losses: dict[str, Losses] = {}
        try:
            if plan.timed:
                fleets["worker, server and network broken"] = await timed_evictions(
                    server, cluster, witness, plan, seed, told
                )
            if plan.turning is not None:
                fleets["taints that come back"] = await taints_that_return(
                    server, cluster, witness, plan.turning, seed, told
                )
            if plan.led:
                fleets["two workers, one Lease"] = await two_workers(
                    server, cluster, witness, plan, told
                )
            if plan.losing is not None:
                losses["nodes that fall silent"] = await nodes_that_fall_silent(
                    server, cluster, plan.losing, seed, told
                )
        finally:
            looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await looking
        await witness.look_once()
    deletions = read_audit(audit)
    told.facts["deletes refused, by HTTP status"] = dict(deletions.refused)
    judged = {name: judge(fleet, witness, deletions) for name, fleet in fleets.items()}
    for name, losses_of in losses.items():
        judged[name] = losses_of.judge(deletes_in(audit, losses_of.namespace))
    return judged, told


def show(verdicts: dict[str, Verdict], told: Told) -> None:
    """For people."""
    for what, value in told.facts.items():
        text = ", ".join(f"{n} {k}" for k, n in value.items()) if isinstance(value, dict) else value
        print(f"{what}: {text}")
    for name, found in verdicts.items():
        print(
            f"{name}: {found.evicted:,} of {found.expected:,} evicted; {found.lost} lost,"
            f" {found.early} early, {found.twice} twice, {found.wrong_uid} wrong UID;"
            f" after the deadline {found.lateness()}"
        )


def main() -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    told = "outages: parts 1 and 3 as they were in 0.1.0"
    parser.add_argument("--plan", choices=PLANS, default="full", help=told)
    parser.add_argument("--quick", action="store_const", dest="plan", const="quick")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    parser.add_argument("--seeds", type=int, default=1, help="so many runs, from that seed on")
    parser.add_argument("--logs", type=Path, help="a folder to keep the programs' logs in")
    given = parser.parse_args()
    if assets() is None:
        print(WHY_NOT)
        return _NO_ASSETS
    seeds = range(given.seed, given.seed + given.seeds)
    good = [_good(PLANS[given.plan], seed, given.logs) for seed in seeds]
    return int(not all(good))


def _good(plan: Plan, seed: int, logs: Path | None) -> bool:
    print(f"seed {seed}", flush=True)
    verdicts, told = run(plan, seed, logs)
    show(verdicts, told)
    return all(found.good for found in verdicts.values())


if __name__ == "__main__":
    sys.exit(main())
