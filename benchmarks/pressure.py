"""What a round of the eviction manager costs for a node, and ranking its pods beside upstream.

`python -m benchmarks.pressure [--no-yardstick]`. The yardstick of a round is msgspec decoding the
very summary: whoever decides has to decode it first, so a ratio below 1 says that deciding is the
smaller part. That of ranking is rankMemoryPressure itself, where Go is found; built the first time,
which takes some minutes, and held against ours: both have to put the pods into one order. CPU time.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from bailiff.decisions.pressure.configuring import settings_of
from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.layout import Layout
from bailiff.decisions.pressure.ranking import rank
from bailiff.decisions.pressure.round import RoundFacts, plan, stats_by_uid
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.state import PressureState
from bailiff.kinds import Pod, decode
from bailiff.kinds.stats import Summary
from tests.harness.summaries import summary_of

_PODS, _ROUNDS = 110, 200
YARDSTICK = Path(__file__).parents[1] / "tests" / "go" / "kubernetes-1.37.1"
_NOW = datetime(2026, 3, 1, 0, 8, 5, tzinfo=UTC)


def main() -> None:
    """Print all figures."""
    rounds()
    print("ranking for memory, CPU ms a node")
    with tempfile.TemporaryDirectory() as folder:
        program = built(Path(folder))
        for number in (30, _PODS):
            ranking(number, program, Path(folder))


def ranking(number: int, program: Path | None, folder: Path) -> None:
    """Ours, and upstream's where it was built.

    Raises:
        ValueError: the two do not agree who goes when.
    """
    told = summary_of("node-1", number)
    bodies = [_body(one["podRef"], place) for place, one in enumerate(told["pods"])]
    for place, one in enumerate(told["pods"]):
        # No two alike, of which upstream's order is random.
        one["memory"]["workingSetBytes"] += place
    pods = [decode(json.dumps(one).encode(), Pod) for one in bodies]
    summary = decode(json.dumps(told).encode(), Summary)
    order = _ranked(pods, summary)
    ours = _cost(lambda _: _ranked(pods, summary), None)
    if program is None:
        print(f"{number:4} pods: {ours:.3f}")
        return
    cases = folder / "node.json"
    cases.write_text(json.dumps({"pods": bodies, "summary": told}))
    done = subprocess.run([program, cases], check=True, capture_output=True, text=True)
    first, *theirs = done.stdout.split()
    if theirs != order:
        raise ValueError(f"upstream's order is {theirs}, ours {order}")
    upstream = float(first) / 1e6
    print(f"{number:4} pods: {ours:.3f}, upstream's {upstream:.3f}: {ours / upstream:.2f}x")


def _ranked(pods: list[Pod], summary: Summary) -> list[str]:
    stats = stats_by_uid(summary.pods)
    found = rank(Signal.MEMORY_AVAILABLE, Layout.SINGLE, pods, stats)
    return [one.metadata.name for one in found.pods]


def built(folder: Path) -> Path | None:
    """Upstream's ranking; None where there is no Go, or it is not wanted."""
    if shutil.which("go") is None or "--no-yardstick" in sys.argv:
        return None
    program = folder / "rankbench"
    build = ["go", "build", "-buildvcs=false", "-o", str(program), "./rankbench"]
    subprocess.run(build, cwd=YARDSTICK, check=True, env=os.environ | {"CGO_ENABLED": "0"})
    return program


def rounds() -> None:
    """A round for a calm node, and for one under pressure."""
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
    return decode(json.dumps(_body(reference, number)).encode(), Pod)


def _body(reference: dict[str, Any], number: int) -> dict[str, Any]:
    asked = {"requests": {"memory": f"{number % 9 + 1}00Mi", "cpu": "100m"}}
    return {
        "metadata": reference,
        "spec": {
            "nodeName": "node-1",
            "priority": number % 3 * 1000,
            "containers": [{"name": f"container-{n}", "resources": asked} for n in range(2)],
            "volumes": [{"name": "cache", "emptyDir": {}}],
        },
        "status": {"phase": "Running"},
    }


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
