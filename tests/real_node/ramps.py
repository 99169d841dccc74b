"""Ramps of memory on cgroup v2, within the node that scenes/ramps.sh is run on.

    python -m tests.real_node.ramps

The machine is small and has one slow processor, so there are fewer ramps than on a real one, and it
is no promise how fast the agent is there.
"""

from __future__ import annotations

import sys

import uvloop

from tests.acceptance.ramps import Trial, stage, try_rate, without_agent
from tests.harness.node_cgroup import MIB
from tests.real_node.__main__ import ADDRESS
from tests.real_node.machine import machine

_SMALL = Trial(limit=700 * MIB, left=300 * MIB, calm=60, times=5)
_MARKED = _SMALL._replace(options=("--memory-high-mark",))
_TRIALS = {
    "bailiff agent": _SMALL._replace(pause=10.0),
    "bailiff agent --memory-high-mark": _MARKED,
    "the same in a pod, the node is the whole machine": _MARKED._replace(
        agent_is_pod=True, make_node=machine
    ),
}


async def run() -> None:
    """All of it, printed."""
    # There is no way out of this machine by which the API server would find an address.
    async with stage(f"--advertise-address={ADDRESS}") as at:
        await without_agent(at, _SMALL)
        for name, trial in _TRIALS.items():
            print(name, flush=True)
            for rate in trial.rates:
                await try_rate(at, trial, rate)


def main() -> int:
    """Exit code."""
    uvloop.run(run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
