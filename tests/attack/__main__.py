"""`python -m tests.attack [NAME...]`: attacks on running processes, and what healthy callers get.

`bailiff serve` and `bailiff worker` run each in a memory cgroup of the chart's limit, on a real
API server where KUBEBUILDER_ASSETS names one, else on the demo cluster. Promised is, to everybody
but the attacker: all probes are answered, 99 % of requests, their p99 is below 250 ms, no process
ends, and no eviction comes more than 1 s late. Exits 1 where that was not kept, 3 where no cgroup
can be made.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from fnmatch import fnmatch

import uvloop

from tests.attack.attacks import ATTACKS
from tests.attack.cgroup import why_not
from tests.attack.running import run_attack
from tests.attack.stage import stage

_NO_CGROUP = 3
# Between two attacks: for what the last one has left to be closed.
_REST_SECONDS = 2.0


def main() -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack")
    parser.add_argument("names", nargs="*", metavar="NAME", help="as 'rest-*'; default: all")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each attack")
    parser.add_argument("--pending", type=int, default=10_000, help="evictions of the worker")
    parser.add_argument("--quick", action="store_true", help="the selection that tests run")
    given = parser.parse_args()
    names = [name for name in ATTACKS if _chosen(name, given)]
    if not names:
        parser.error(f"there are {', '.join(ATTACKS)}")
    if reason := why_not():
        print(reason)
        return _NO_CGROUP
    return uvloop.run(_run(names, given.seconds, given.pending))


def _chosen(name: str, given: argparse.Namespace) -> bool:
    if given.quick:
        return ATTACKS[name].is_quick
    return not given.names or any(fnmatch(name, pattern) for pattern in given.names)


async def _run(names: list[str], seconds: float, pending: int) -> int:
    broken = 0
    async with stage() as found:
        if any(ATTACKS[name].port.is_workers for name in names):
            await found.pend(pending)
        for name in names:
            verdict = await run_attack(found, name, seconds)
            print(verdict, flush=True)
            broken += bool(verdict.broken())
            await asyncio.sleep(_REST_SECONDS)
            await found.mend()
    print(f"{len(names) - broken} of {len(names)} kept")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
