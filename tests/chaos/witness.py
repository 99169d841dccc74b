"""Two who look on: a watch of its own, straight at the API server, and the server's audit log."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import aiohttp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.harness.kube.apiserver import KubeApiserver

_PODS = "/api/v1/pods"
_AGAIN = 0.3
_LINE_LIMIT = 2**20
AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [delete]
  resources: [{group: "", resources: [pods]}]
- level: None
"""


class Witness:
    """Lists and watches all pods, and begins anew whenever that breaks.

    Attributes:
        ending: by UID, when the API server took the pod's deletion, to the second below. Pods
            stay terminating here, so this is read off them whenever the witness sees again.
        vanished: UIDs of pods that are no more.
        lists: how often it had to begin anew.
    """

    def __init__(self, server: KubeApiserver) -> None:
        self._server = server
        self.ending: dict[str, float] = {}
        self.vanished: set[str] = set()
        self.lists = 0
        self._present: set[str] = set()

    async def run(self) -> None:
        """Look on until cancelled."""
        async with self._session() as session:
            while True:
                try:
                    await self._follow(session, await self._list(session))
                except (aiohttp.ClientError, OSError, ValueError):
                    await asyncio.sleep(_AGAIN)

    async def look_once(self) -> None:
        """See everything as it is now, whatever the watch has told."""
        async with self._session() as session:
            await self._list(session)

    def _session(self) -> aiohttp.ClientSession:
        tls = ssl.create_default_context(cafile=str(self._server.tls.ca))
        return aiohttp.ClientSession(
            self._server.url,
            connector=aiohttp.TCPConnector(ssl=tls),
            headers={"Authorization": f"Bearer {self._server.token}"},
            timeout=aiohttp.ClientTimeout(total=None, sock_read=90.0),
            read_bufsize=_LINE_LIMIT,
        )

    async def _list(self, session: aiohttp.ClientSession) -> str:
        async with session.get(_PODS) as answer:
            answer.raise_for_status()
            listing = await answer.json()
        present = {pod["metadata"]["uid"] for pod in listing["items"]}
        for pod in listing["items"]:
            self._saw(pod)
        self.vanished |= self._present - present
        self._present = present
        self.lists += 1
        version: str = listing["metadata"]["resourceVersion"]
        return version

    async def _follow(self, session: aiohttp.ClientSession, version: str) -> None:
        query = {"watch": "true", "resourceVersion": version, "timeoutSeconds": "300"}
        async with session.get(_PODS, params=query) as answer:
            answer.raise_for_status()
            while line := await answer.content.readline():
                self._take(json.loads(line))

    def _take(self, event: dict[str, Any]) -> None:
        if event["type"] == "ERROR":
            raise ValueError("the watch has ended")
        uid = event["object"]["metadata"]["uid"]
        if event["type"] == "DELETED":
            self._present.discard(uid)
            self.vanished.add(uid)
        else:
            self._present.add(uid)
        self._saw(event["object"])

    def _saw(self, pod: dict[str, Any]) -> None:
        meta = pod["metadata"]
        if "deletionTimestamp" in meta:
            ends = datetime.fromisoformat(meta["deletionTimestamp"]).timestamp()
            self.ending[meta["uid"]] = ends - meta.get("deletionGracePeriodSeconds", 0)


@dataclass
class Deletions:
    """What the audit log tells of deletes of pods that were not the script's own.

    Attributes:
        accepted: by UID, when each was asked for.
        refused: by HTTP status.
        unguarded: how many came without the UID as a precondition.
        mistaken: accepted, though the UID asked for was another's.
    """

    accepted: dict[str, list[float]] = field(default_factory=dict)
    refused: Counter[int] = field(default_factory=Counter)
    unguarded: int = 0
    mistaken: int = 0


class Delete(NamedTuple):
    """One delete of a pod that was accepted.

    Attributes:
        uid: of the pod.
        at: seconds since 1970 when it was asked for.
        forced: with a grace period of 0.
        guarded: for this UID alone.
    """

    uid: str
    at: float
    forced: bool
    guarded: bool


def read_audit(log: Path) -> Deletions:
    """Read all of it. The script itself deletes at once; a worker leaves pods their time."""
    found = Deletions()
    for event in _deletes(log):
        if (event.get("requestObject") or {}).get("gracePeriodSeconds") != 0:
            _count(found, event)
    return found


def deletes_in(log: Path, namespace: str) -> list[Delete]:
    """All that were accepted in a namespace where the script itself deletes nothing."""
    found = []
    for event in _deletes(log):
        if event["objectRef"]["namespace"] == namespace and _is_accepted(event):
            uid, asked = _uid(event), _asked(event)
            forced = (event.get("requestObject") or {}).get("gracePeriodSeconds") == 0
            found.append(Delete(uid, _at(event), forced, asked == uid))
    return found


def _deletes(log: Path) -> Iterator[dict[str, Any]]:
    """Deletes that were answered, dry runs left out; a kill may have left the last line torn."""
    for line in log.read_text().splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        options = event.get("requestObject") or {}
        dry = options.get("dryRun") or "dryRun=" in event["requestURI"]
        if event["stage"] == "ResponseComplete" and not dry:
            yield event


def _count(found: Deletions, event: dict[str, Any]) -> None:
    asked = _asked(event)
    found.unguarded += asked is None
    if not _is_accepted(event):
        found.refused[event["responseStatus"]["code"]] += 1
        return
    uid = _uid(event)
    found.mistaken += uid != asked
    found.accepted.setdefault(uid, []).append(_at(event))


def _is_accepted(event: dict[str, Any]) -> bool:
    return bool(200 <= event["responseStatus"]["code"] < 300)


def _asked(event: dict[str, Any]) -> str | None:
    """The UID that was a precondition."""
    options = event.get("requestObject") or {}
    return (options.get("preconditions") or {}).get("uid")


def _uid(event: dict[str, Any]) -> str:
    answer = event.get("responseObject") or {}
    return str(answer.get("metadata", {}).get("uid") or answer.get("details", {}).get("uid"))


def _at(event: dict[str, Any]) -> float:
    return datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp()
