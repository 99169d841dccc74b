"""One attack: the attacker, the healthy callers and the evictions side by side."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from typing import Any

from tests.attack.access import Access, environment
from tests.attack.attacks import ATTACKS, Port
from tests.attack.callers import NEWCOMERS_EVERY
from tests.attack.evictions import TimedPods
from tests.attack.logins import fresh_tokens
from tests.attack.stage import Stage, Target
from tests.attack.verdict import Callers, Verdict

# Callers begin before the attacker and end after it.
_BEFORE = 1.0


async def run_attack(stage: Stage, name: str, seconds: float) -> Verdict:
    """Attack for so many seconds; what came of it."""
    target = stage.of(ATTACKS[name].port)
    timed = await _timed(stage, seconds) if target is stage.worker else None
    access = await _introduced(stage, seconds + 2 * _BEFORE)
    target.cgroup.forget_peak()
    looking = asyncio.create_task(timed.run()) if timed else None
    calls = _python(access, "callers", _ports(target), seconds + 2 * _BEFORE)
    calling = asyncio.create_task(calls)
    await asyncio.sleep(_BEFORE)
    port = target.ports[ATTACKS[name].port]
    attacker = await _python(access, "attacker", name, port, seconds)
    told = await calling
    if looking:
        await looking
    callers = [Callers(kind, got["seconds"], got["failed"]) for kind, got in told.items()]
    late = timed.late() if timed else []
    peak, limit = target.cgroup.peak, target.limit
    return Verdict(name, callers, peak, limit, target.program.exited, late, attacker)


async def _introduced(stage: Stage, seconds: float) -> Access | None:
    """What callers have, with tokens for those of whom nothing is to be known yet."""
    if stage.access is None:
        return None
    number = int(seconds / NEWCOMERS_EVERY) + 1
    return replace(stage.access, fresh=await fresh_tokens(stage.cluster, number))


async def _timed(stage: Stage, seconds: float) -> TimedPods:
    pods = TimedPods(stage.cluster)
    await pods.set_up(int(seconds + 2 * _BEFORE))
    return pods


def _ports(target: Target) -> str:
    named = {"probes" if port is Port.HEALTH else port.value: n for port, n in target.ports.items()}
    return json.dumps(named)


async def _python(access: Access | None, module: str, *arguments: object) -> Any:
    """Run one of our modules; what it prints, read as JSON."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        f"tests.attack.{module}",
        *map(str, arguments),
        stdout=asyncio.subprocess.PIPE,
        env=environment(access),
    )
    try:
        out, _ = await process.communicate()
        return json.loads(out)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
