"""`python -m tests.attack [NAME...]`: attacks on running processes, and what healthy callers get.

`bailiff serve` and `bailiff worker` run each in a memory cgroup of the chart's limit, on a real
API server where KUBEBUILDER_ASSETS names one, else on the demo cluster. Attacks named `secured-`
meet them as the chart installs them: accounts with its rights, TLS, and callers known by tokens of
the cluster. These need the real API server, and are left out where there is none. Promised is, to
everybody but the attacker: all probes are answered, 99 % of requests, their p99 is below 250 ms, no
process ends, and no eviction comes more than 1 s late. Exits 1 where that was not kept, 3 where no
cgroup can be made.
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
from tests.attack.verdict import Verdict
from tests.harness.kube.programs import WHY_NOT, assets

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


def _is_of(name: str, is_secured: bool, is_workers: bool) -> bool:
    attack = ATTACKS[name]
    if is_secured or attack.is_secured:
        return is_secured and attack.is_secured
    return attack.port.is_workers is is_workers


def _chosen(name: str, given: argparse.Namespace) -> bool:
    if given.quick and not ATTACKS[name].is_quick:
        return False
    return not given.names or any(fnmatch(name, pattern) for pattern in given.names)


async def _run(names: list[str], seconds: float, pending: int) -> int:
    verdicts: list[Verdict] = []
    # The worker's alone have a crowded cluster beside them, whose API server takes its part of the
    # cores: the decision API is promised none.
    for is_secured, is_workers in ((False, False), (False, True), (True, False)):
        chosen = [name for name in names if _is_of(name, is_secured, is_workers)]
        if is_secured and chosen and assets() is None:
            print(f"{', '.join(chosen)}: {WHY_NOT}")
        elif chosen:
            verdicts += await _on_a_stage(chosen, seconds, pending, is_secured)
    broken = sum(bool(verdict.broken()) for verdict in verdicts)
    print(f"{len(verdicts) - broken} of {len(verdicts)} kept")
    return int(broken > 0)


async def _on_a_stage(
    names: list[str], seconds: float, pending: int, is_secured: bool
) -> list[Verdict]:
    verdicts = []
    async with stage(secured=is_secured) as found:
        if any(ATTACKS[name].port.is_workers for name in names):
            await found.pend(pending)
        for name in names:
            verdicts.append(await run_attack(found, name, seconds))
            print(verdicts[-1], flush=True)
            await asyncio.sleep(_REST_SECONDS)
            await found.mend()
    return verdicts


if __name__ == "__main__":
    sys.exit(main())
