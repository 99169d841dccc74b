"""What a process has used, from proc(5), and what was asked of the API server, from its metrics."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from bailiff.cluster import Cluster, Request

_TICKS = os.sysconf("SC_CLK_TCK")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_REQUESTS = "apiserver_request_total{"


def cpu_seconds(pid: int) -> float:
    """User and system time so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def peak_rss_mb(pid: int) -> float:
    """The most memory it ever held, in MB (10^6 bytes)."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024 / 1e6


class Call(NamedTuple):
    """A kind of request."""

    verb: str
    resource: str
    subresource: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}" + (f"/{self.subresource}" if self.subresource else "")


async def requests_so_far(cluster: Cluster) -> Counter[Call]:
    """Requests that the API server has answered since it started, watches and lists left out."""
    text = (await cluster.send(Request("GET", "/metrics", accept="*/*"), 30.0)).decode()
    counts: Counter[Call] = Counter()
    for line in text.splitlines():
        if line.startswith(_REQUESTS):
            labels = dict(_LABEL.findall(line))
            call = Call(labels["verb"], labels["resource"], labels["subresource"])
            if call.resource in {"pods", "nodes", "events"} and call.verb not in {"WATCH", "LIST"}:
                counts[call] += int(float(line.rpartition(" ")[2]))
    return counts
