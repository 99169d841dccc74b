"""Core: nanoseconds a decision, beside upstream's Go code on the same machine in the same run.

`python -m benchmarks.core`. The yardstick is built from tests/go with Go; without Go, or with
--no-yardstick, only our own figures are printed.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from bailiff.decisions import Options
from bailiff.decisions.node_taints import NodeTaints
from bailiff.kinds import Node, NodeMeta, NodeSpec, ObjectMeta, Pod, PodSpec, Taint, Toleration

ROOT = Path(__file__).parent.parent
# Of the release that the conformance data is of.
YARDSTICK = ROOT / "tests" / "go" / "kubernetes-1.36.2"
CASES = ROOT / "tests" / "conformance" / "data" / "node_taint.jsonl.gz"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)
SILENT = Options(explain=False)
ROUNDS = 7


def best(run: Callable[[], int]) -> float:
    """Nanoseconds for one of what `run` counts, best round."""
    figures = []
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        count = run()
        figures.append((time.perf_counter_ns() - start) / count)
    return min(figures)


def all_distinct() -> Callable[[], int]:
    """Every pod with tolerations of its own, every node with taints of its own."""
    with gzip.open(CASES, "rt") as file:
        inputs = [json.loads(line)["input"] for line in file]
    cases = [
        (
            Node(
                metadata=NodeMeta(name="n"),
                spec=NodeSpec(taints=msgspec.convert(case["taints"], tuple[Taint, ...])),
            ),
            pod(msgspec.convert(case["tolerations"], tuple[Toleration, ...])),
            Options(comparison_operators=case["comparisonOperators"], explain=False),
        )
        for case in inputs
    ]

    def run() -> int:
        for node, one, options in cases:
            NodeTaints(node, NOW, (), options).decide(one)
        return len(cases)

    return run


def like_a_cluster() -> Callable[[], int]:
    """100 nodes of 110 pods, whose toleration lists are 8 in all, as the mirror interns them."""
    seconds = (None, 10, 30, 60, 300, 600, 3600, 86400)
    lists = [
        tuple(
            Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=value)
            for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
        )
        for value in seconds
    ]
    taint = Taint(key="node.kubernetes.io/unreachable", effect="NoExecute", time_added=NOW)
    node = Node(metadata=NodeMeta(name="n"), spec=NodeSpec(taints=(taint,)))
    pods = [pod(lists[number % len(lists)]) for number in range(110)]

    def run() -> int:
        for _ in range(100):
            decide = NodeTaints(node, NOW, (), SILENT).decide
            for one in pods:
                decide(one)
        return 100 * len(pods)

    return run


def pod(tolerations: tuple[Toleration, ...]) -> Pod:
    meta = ObjectMeta(name="p", namespace="default", uid="u", creation_timestamp=LONG_AGO)
    return Pod(metadata=meta, spec=PodSpec(node_name="n", tolerations=tolerations))


def upstream() -> float | None:
    """Nanoseconds a decision of Kubernetes' own code."""
    if shutil.which("go") is None or "--no-yardstick" in sys.argv:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program, cases = Path(folder) / "bench", Path(folder) / "cases.jsonl"
        with gzip.open(CASES) as file:
            cases.write_bytes(file.read())
        build = ["go", "build", "-o", str(program), "./nodetaintbench"]
        subprocess.run(build, cwd=YARDSTICK, check=True)
        done = subprocess.run([program, cases], check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    yardstick = upstream()
    if yardstick is not None:
        print(f"upstream Go, conformance/node_taint   {yardstick:8.0f} ns a decision")
    for name, figure in (
        ("all distinct, conformance/node_taint", best(all_distinct())),
        ("like a cluster, 8 toleration lists  ", best(like_a_cluster())),
    ):
        ratio = f"   {figure / yardstick:5.2f}x upstream's time" if yardstick else ""
        print(f"{name}  {figure:8.0f} ns a decision{ratio}")


if __name__ == "__main__":
    main()
