"""What a round of the eviction manager costs for a node of 110 pods, beside decoding its summary.

`python -m benchmarks.pressure`. The yardstick is msgspec decoding the very summary: whoever decides
has to decode it first, so a ratio below 1 says that deciding is the smaller part. CPU time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from bailiff.decisions.pressure.configuring import settings_of
from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.layout import Layout
from bailiff.decisions.pressure.round import RoundFacts, plan
from bailiff.decisions.pressure.state import PressureState
from bailiff.kinds import Pod, decode
from bailiff.kinds.stats import Summary
from tests.harness.summaries import summary_of

_PODS, _ROUNDS = 110, 200
_NOW = datetime(2026, 3, 1, 0, 8, 5, tzinfo=UTC)


def main() -> None:
    told = summary_of("node-1", _PODS)
    pods = tuple(_pod(one["podRef"], number) for number, one in enumerate(told["pods"]))
    print(f"a node of {_PODS} pods with two containers each, CPU ms a node")
    for name, available in (("calm", 2**40), ("under pressure", 1)):
        told["node"]["memory"]["availableBytes"] = available
        for fs in (told["node"]["fs"], *told["node"]["runtime"].values()):
            fs |= {"availableBytes": 9, "capacityBytes": 10, "inodesFree": 9, "inodes": 10}
        data = json.dumps(told).encode()
        summary = decode(data, Summary)
        facts = RoundFacts(
            settings=settings_of(PressureFacts()),
            layout=Layout.SINGLE,
            summary=summary,
            pods=pods,
            state=PressureState(),
            now=_NOW,
        )
        assert bool(plan(facts).victims) is (available == 1)
        decoder = msgspec.json.Decoder(Summary)
        decoding, deciding = _cost(decoder.decode, data), _cost(plan, facts)
        print(
            f"{name:15} decode {len(data) // 1000} kB {decoding:.2f}, decide {deciding:.2f}: "
            f"{deciding / decoding:.2f}x the decoding"
        )


def _pod(reference: dict[str, Any], number: int) -> Pod:
    asked = {"requests": {"memory": f"{number % 9 + 1}00Mi", "cpu": "100m"}}
    body = {
        "metadata": reference,
        "spec": {
            "nodeName": "node-1",
            "priority": number % 3 * 1000,
            "containers": [{"name": f"container-{n}", "resources": asked} for n in range(2)],
            "volumes": [{"name": "cache", "emptyDir": {}}],
        },
        "status": {"phase": "Running"},
    }
    return decode(json.dumps(body).encode(), Pod)


def _cost(work: Callable[[Any], object], argument: object) -> float:
    """CPU milliseconds of one, the best of three tries."""
    tries = []
    for _ in range(3):
        began = time.process_time()
        for _ in range(_ROUNDS):
            work(argument)
        tries.append((time.process_time() - began) / _ROUNDS * 1000)
    return min(tries)


if __name__ == "__main__":
    main()
