"""An API server of pods and nodes, in memory and on virtual time, behind the real client.

It takes the place of the client's Transport, so what it judges are the requests themselves. A guard
counts if the request carries it: what comes without a UID or a version is carried out on whatever
has the name by then, as a real API server would, and a test sees the wrong pod go.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import UserDict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from bailiff.cluster import Changed, ClusterError, Deleted, FencedError, Request
from bailiff.kinds import Node, Pod
from bailiff.worker.systems.node_taints.annotator import ANNOTATION
from tests.harness.clocks import LoopClock
from tests.harness.worlds import refusals
from tests.harness.worlds.calls import Call, read
from tests.harness.worlds.fake_watch import FakeWatch
from tests.harness.worlds.merging import merge_patch, strategic_merge

T = TypeVar("T", bound=Pod | Node)


class Objects(UserDict[str, T]):
    """Objects by name. Whatever is put here gets a resourceVersion of its own, as in etcd."""

    def __init__(self, versions: Iterator[int]) -> None:
        super().__init__()
        self._versions = versions

    def __setitem__(self, name: str, value: T) -> None:
        replace = msgspec.structs.replace
        metadata = replace(value.metadata, resource_version=str(next(self._versions)))
        super().__setitem__(name, replace(value, metadata=metadata))


@dataclass(frozen=True)
class Denial:
    """What an admission webhook does: refuse these verbs with this code, until that second."""

    code: int
    verbs: frozenset[str]
    until: float


class ApiServer:
    """The server. What a test may set:

    Attributes:
        pods: by name; one that is put here directly is a change that the watch has not told of.
        nodes: the same.
        failures: what the next requests about pods come to instead, one each.
        late_failures: the same for requests that take a condition back.
        budgets: what forbids the Eviction API to take a pod: in words, or how it says so.
        latency: seconds from a request about a pod to what it does.
        deaf: the watch no longer tells of what the requests do.
        swallows: deletes are answered as if they had been carried out, and are not.
        lingering: pods that are deleted stay, terminating, as with a long grace period.

    And what it may look at:

    Attributes:
        calls: all requests, with what they carry.
        requests: the steps of those about pods, see Call.step.
        deleted: second, name and UID of each pod that was deleted.
        conditions: reasons of the conditions that were written.
        annotated: what was written on nodes; "" where it was taken away.
        notes: pod and message of each Event.
        reported: component and reason of each Event.
    """

    def __init__(self, clock: LoopClock) -> None:
        self.clock = clock
        versions = itertools.count(1)
        self.pods: Objects[Pod] = Objects(versions)
        self.nodes: Objects[Node] = Objects(versions)
        self.pod_watch, self.node_watch = FakeWatch(), FakeWatch()
        self.failures: list[ClusterError] = []
        self.late_failures: list[ClusterError] = []
        self.budgets: dict[str, str | ClusterError] = {}
        self.latency = 0.0
        self.deaf = False
        self.swallows = False
        self.lingering = False
        self.calls: list[Call] = []
        self.requests: list[str] = []
        self.deleted: list[tuple[float, str, str]] = []
        self.conditions: list[str] = []
        self.annotated: list[str] = []
        self.notes: list[tuple[str, str]] = []
        self.reported: list[tuple[str, str]] = []
        self._denial: Denial | None = None
        self.verbs: dict[str, Callable[[Call], Awaitable[object]]] = {
            "get": self._serve_get,
            "patch": self._serve_patch,
            "delete": self._serve_delete,
            "evict": self._serve_evict,
            "annotate": self._serve_annotate,
            "record": self._serve_record,
        }

    def deny(self, code: int, *verbs: str, until: float) -> None:
        """An admission webhook denies these verbs with this code until that second."""
        self._denial = Denial(code, frozenset(verbs), until)

    # What the client's Transport offers.

    async def send(self, request: Request, within: float | None = None) -> bytes:
        """The body of the answer; raises ClusterError as Transport.send does."""
        call = read(request, self.clock.monotonic())
        if request.allowed is not None and not request.allowed():
            raise FencedError(f"{request.what}: not sent, another process leads")
        self.calls.append(call)
        return msgspec.json.encode(await self.verbs[call.verb](call))

    async def close(self) -> None:
        """Nothing is open."""

    # Verbs.

    async def _serve_get(self, call: Call) -> Pod | Node:
        if call.plural == "pods":
            return self._found(self.pods, call)
        return self._found(self.nodes, call)

    async def _serve_patch(self, call: Call) -> Pod:
        await self._arrive(call)
        current = self._found(self.pods, call)
        if call.uid not in ("", current.metadata.uid):
            raise refusals.other_uid_in_patch(call, current.metadata.uid)
        self._check_version(call, current)
        self._check_admission(call)
        self.conditions += [c.get("reason", "") for c in call.conditions]
        return self._write_status(current, call)

    def _write_status(self, current: Pod, call: Call) -> Pod:
        status = {"status": call.body.get("status", {})}
        fresh = msgspec.convert(strategic_merge(msgspec.to_builtins(current), status), Pod)
        # A patch that changes nothing is no write.
        if fresh == current or call.is_dry_run:
            return fresh
        self.pods[call.name] = fresh
        self._tell(self.pod_watch, Changed(self.pods[call.name]))
        return self.pods[call.name]

    async def _serve_delete(self, call: Call) -> dict[str, str]:
        await self._arrive(call)
        self._take(call, self._found(self.pods, call))
        return {"status": "Success"}

    async def _serve_evict(self, call: Call) -> dict[str, str]:
        await self._arrive(call)
        current = self._found(self.pods, call)
        words = self.budgets.get(call.name)
        if isinstance(words, ClusterError):
            raise words
        if words is not None:
            raise refusals.budget(call, words)
        self._take(call, current)
        return {"status": "Success"}

    def _take(self, call: Call, current: Pod) -> None:
        if call.uid not in ("", current.metadata.uid):
            raise refusals.other_uid(call, current.metadata.uid)
        self._check_version(call, current)
        self._check_admission(call)
        if call.is_dry_run or self.swallows:
            return
        self.deleted.append((self.clock.monotonic(), call.name, current.metadata.uid))
        if self.lingering:
            self._terminate(current)
            return
        gone = self.pods.pop(call.name)
        self._tell(self.pod_watch, Deleted(gone))

    def _terminate(self, pod: Pod) -> None:
        name, replace = pod.metadata.name, msgspec.structs.replace
        metadata = replace(pod.metadata, deletion_timestamp=self.clock.now())
        self.pods[name] = replace(pod, metadata=metadata)
        self._tell(self.pod_watch, Changed(self.pods[name]))

    async def _serve_annotate(self, call: Call) -> Node:
        current = self._found(self.nodes, call)
        self._check_version(call, current)
        self._check_admission(call)
        self.annotated.append(call.body["metadata"]["annotations"][ANNOTATION] or "")
        self.nodes[call.name] = msgspec.convert(
            merge_patch(msgspec.to_builtins(current), call.body), Node
        )
        self._tell(self.node_watch, Changed(self.nodes[call.name]))
        return self.nodes[call.name]

    async def _serve_record(self, call: Call) -> object:
        self._check_admission(call)
        body = call.body
        self.notes.append((body["involvedObject"]["name"], body["message"]))
        self.reported.append((body["reportingComponent"], body["reason"]))
        return body

    # What verbs have in common.

    async def _arrive(self, call: Call) -> None:
        """A request about a pod is under way, and may fail."""
        self.requests.append(call.step)
        await asyncio.sleep(self.latency)
        failures = self.late_failures if call.step in ("look", "reset") else self.failures
        if failures:
            raise failures.pop(0)

    def _found(self, objects: Objects[T], call: Call) -> T:
        current = objects.get(call.name)
        if current is None:
            raise refusals.not_found(call)
        return current

    def _check_version(self, call: Call, current: Pod | Node) -> None:
        if call.version not in ("", current.metadata.resource_version):
            raise refusals.other_version(call, current.metadata.resource_version)

    def _check_admission(self, call: Call) -> None:
        denial = self._denial
        if denial is None or call.verb not in denial.verbs:
            return
        if self.clock.monotonic() < denial.until:
            raise refusals.denied(call, denial.code)

    def _tell(self, watch: FakeWatch, event: Changed[Any] | Deleted[Any]) -> None:
        if not self.deaf:
            watch.send(event)
