"""`python -m tests.attack.attacker NAME PORT SECONDS`: one attack, in a process of its own.

Prints what became of its connections, as JSON. It is nice to others: on the machine that runs all
of them it takes none of the time that an attacker's own machine would have taken.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import sys
from collections import Counter

import uvloop

from tests.attack.attacks import ATTACKS

_NICE = 5


async def _run(name: str, port: int, seconds: float) -> None:
    tally: Counter[str] = Counter()
    # uvloop tells of each handshake in which the other side hangs up: that is counted anyway.
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await ATTACKS[name].attack(port, tally)
    print(json.dumps(tally), flush=True)


def main() -> None:
    """By the command line."""
    name, port, seconds = sys.argv[1:]
    os.nice(_NICE)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    uvloop.run(_run(name, int(port), float(seconds)))


if __name__ == "__main__":
    main()
