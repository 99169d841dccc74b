"""Scheduling verdicts over a gRPC stream whose nodes are registered, beside upstream's plugins.

    python -m benchmarks.scheduling [--no-yardstick] [--seconds 3]

The server runs on one core, the client on another. Every pod has tolerations of its own, so that
no answer is remembered, or is one of few Deployments. The yardstick is kube-scheduler's plugins
TaintToleration and NodeUnschedulable in Go, asked in process about the same pods and nodes, and
held against ours: both have to find the same nodes and scores. It says nothing of residency, and
sends nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import grpc
from google.protobuf import json_format

from bailiff.v1 import scheduling_service_pb2 as pb
from benchmarks.grpc_face import Server

METHOD = "/bailiff.v1.SchedulingService/JudgeNodesStream"
YARDSTICK = Path(__file__).parents[1] / "tests" / "go" / "kubernetes-1.37.1"
Json = dict[str, Any]
_UNREACHABLE = "node.kubernetes.io/unreachable"
_NOT_READY = "node.kubernetes.io/not-ready"


def node(index: int, *, alone: bool = False) -> Json:
    """One of a fleet of some thirty kinds, as clusters have them; or one that is like no other."""
    taints: list[Json] = []
    if index % 4 == 0:
        taints.append(_taint("dedicated", "NoSchedule", f"team-{index % 12}"))
    if index % 5 == 0:
        taints.append(_taint("spot", "PreferNoSchedule"))
    if index % 7 == 0:
        taints.append(_taint("gpu", "NoSchedule", f"model-{index % 3}"))
    if index % 50 == 0:
        # Each by its own time, as the nodes of a rack that is lost.
        added = f"2026-01-01T00:{index // 60 % 60:02}:{index % 60:02}Z"
        taints.append(_taint(_UNREACHABLE, "NoExecute") | {"timeAdded": added})
    if alone:
        taints.append(_taint("node", "PreferNoSchedule", f"n{index}"))
    held = "True" if index % 100 == 1 else "False"
    return {
        "metadata": {"name": f"node-{index:05}.example.internal", "labels": {"zone": "a"}},
        "spec": {"taints": taints, "unschedulable": index % 60 == 2},
        "status": {"conditions": [{"type": "MemoryPressure", "status": held}]},
    }


def pod(index: int, *, own: bool = True) -> Json:
    """With the default tolerations and one more, which is its own or one of ten."""
    number = index if own else index % 10
    tolerations: list[Json] = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in (_NOT_READY, _UNREACHABLE)
    ]
    tolerations.append({"key": "dedicated", "value": f"team-{number % 12}"})
    tolerations.append({"key": "own", "operator": "Equal", "value": f"v{number}"})
    return {
        "metadata": {"name": f"web-{index:05}", "namespace": "shop", "uid": f"u-{index}"},
        "spec": {"tolerations": tolerations},
    }


def _taint(key: str, effect: str, value: str = "") -> Json:
    return {"key": key, "effect": effect} | ({"value": value} if value else {})


class Scene(NamedTuple):
    """What one figure is about.

    Attributes:
        name: for people.
        nodes: that are registered.
        pods: that are asked about, again and again.
        together: pods in a message.
        streams: how many streams ask at a time.
    """

    name: str
    nodes: list[Json]
    pods: list[Json]
    together: int = 1
    streams: int = 1


def scenes() -> list[Scene]:
    own, alike = [pod(i) for i in range(2000)], [pod(i, own=False) for i in range(2000)]
    many, some = [node(i) for i in range(5000)], [node(i) for i in range(500)]
    unlike = [node(i, alone=True) for i in range(500)]
    return [
        Scene("5,000 nodes, a pod of its own", many, own),
        Scene("5,000 nodes, a pod of ten kinds", many, alike),
        Scene("500 nodes, a pod of its own", some, own),
        Scene("500 nodes, 4 streams", some, own, streams=4),
        Scene("500 nodes, 50 pods a message", some, own, together=50),
        Scene("500 nodes, 50 pods of ten kinds", some, alike, together=50),
        Scene("500 nodes, none like another", unlike, own[:200]),
    ]


class Stream:
    """A stream of a client, with its nodes registered."""

    def __init__(self, channel: grpc.aio.Channel, scene: Scene) -> None:
        call: Any = channel.stream_stream(METHOD)
        self._call = call()
        self._scene = scene
        pods = [_message(one, pb.PodsToJudge().pods.add()) for one in scene.pods]
        chunks = range(0, len(pods), scene.together)
        self._asked = [
            pb.JudgeNodesStreamRequest(
                pods=pb.PodsToJudge(pods=pods[at : at + scene.together])
            ).SerializeToString()
            for at in chunks
        ]

    async def register(self) -> float:
        """Seconds that it takes."""
        told = pb.NodeSet(
            nodes=[_message(one, pb.NodeSet().nodes.add()) for one in self._scene.nodes]
        )
        data = pb.JudgeNodesStreamRequest(nodes=told).SerializeToString()
        began = time.perf_counter()
        response = pb.JudgeNodesStreamResponse.FromString(await self._ask(data))
        took = time.perf_counter() - began
        assert response.registered.nodes == len(self._scene.nodes), response
        return took

    async def ask(self, seconds: float) -> list[float]:
        """Seconds of each request, in the order in which they are asked, again and again."""
        took, number, end = [], 0, time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.perf_counter()
            await self._ask(self._asked[number % len(self._asked)])
            took.append(time.perf_counter() - began)
            number += 1
        return took

    async def answers(self) -> list[tuple[int, int]]:
        """Of each pod how many nodes are feasible, and the sum of their scores."""
        found = []
        for data in self._asked:
            response = pb.JudgeNodesStreamResponse.FromString(await self._ask(data))
            found += [_summed(one) for one in response.judged.answers]
        return found

    async def _ask(self, data: bytes) -> bytes:
        await self._call.write(data)
        answer: bytes = await self._call.read()
        return answer


def _message(body: Json, message: Any) -> Any:  # noqa: ANN401 - a message
    return json_format.ParseDict(body, message)


def _summed(answer: pb.JudgeNodesResponse) -> tuple[int, int]:
    feasible = [one for one in answer.verdicts if one.feasible]
    return (
        sum(len(one.nodes) for one in feasible),
        sum(len(one.nodes) * one.normalized_score for one in feasible),
    )


async def measure(scene: Scene, server: Server, seconds: float) -> list[tuple[int, int]]:
    """Print its figures; the answers of one stream."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        streams = [Stream(channel, scene) for _ in range(scene.streams)]
        registered = [await one.register() for one in streams]
        await asyncio.gather(*(one.ask(0.3) for one in streams))
        cpu, wall = server.cpu_seconds(), time.monotonic()
        found = await asyncio.gather(*(one.ask(seconds) for one in streams))
        cpu, wall = server.cpu_seconds() - cpu, time.monotonic() - wall
        took = sorted(one for each in found for one in each)
        pods = len(took) * scene.together
        median, slow = statistics.median(took) * 1000, took[len(took) * 99 // 100] * 1000
        print(
            f"{scene.name:32} registered in {max(registered) * 1000:5.0f} ms; median "
            f"{median:6.2f} ms, p99 {slow:6.2f}; {pods / wall:7,.0f} pods/s, "
            f"{pods / cpu:7,.0f} by the server's CPU",
            flush=True,
        )
        return await streams[0].answers()


def yardstick(scene: Scene, ours: list[tuple[int, int]], program: Path, folder: Path) -> None:
    """Print upstream's figure; ValueError where it finds other nodes or scores."""
    cases = folder / "scene.json"
    cases.write_text(json.dumps({"nodes": scene.nodes, "pods": scene.pods}))
    done = subprocess.run([program, cases], check=True, capture_output=True, text=True)
    first, *theirs = done.stdout.splitlines()
    told = [(int(count), int(scores)) for count, scores in (one.split() for one in theirs)]
    if told != ours:
        raise ValueError(f"{scene.name}: upstream finds other nodes or scores")
    print(f"{'':32} upstream's plugins in Go: {int(first) / 1e6:.3f} ms a pod", flush=True)


def built(folder: Path) -> Path | None:
    """Upstream's plugins; None where there is no Go."""
    if shutil.which("go") is None:
        return None
    program = folder / "taintfilterbench"
    build = ["go", "build", "-buildvcs=false", "-o", str(program), "./taintfilterbench"]
    subprocess.run(build, cwd=YARDSTICK, check=True, env=os.environ | {"CGO_ENABLED": "0"})
    return program


async def compare(seconds: float, *, without_yardstick: bool) -> None:
    """Print all figures."""
    server = Server("face", True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            program = None if without_yardstick else built(Path(folder))
            for scene in scenes():
                ours = await measure(scene, server, seconds)
                if program is not None:
                    yardstick(scene, ours, program, Path(folder))
    finally:
        server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=3, help="for each figure, of seven")
    parser.add_argument("--no-yardstick", action="store_true")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    asyncio.run(compare(arguments.seconds, without_yardstick=arguments.no_yardstick))


if __name__ == "__main__":
    main()
