"""The real Prometheus, as Debian packages it, beside the processes that it scrapes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from tests.harness.kube.programs import ASSETS_VARIABLE, Program, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_READY_SECONDS = 20.0
# For a broken build: each takes seconds.
_PATIENCE = 90.0


def program(name: str) -> str:
    """The path of `prometheus` or `promtool`; skips where there is none."""
    folders = [os.environ["PATH"], os.environ.get(ASSETS_VARIABLE, "")]
    found = shutil.which(name, path=os.pathsep.join(filter(None, folders)))
    if found is None:
        pytest.skip(f"no {name} on PATH or in {ASSETS_VARIABLE}: Debian's package prometheus")
    return found


def promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    command = [program("promtool"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is scraped, under the labels that the Prometheus operator would give it.

    Attributes:
        job: of the ServiceMonitor or PodMonitor.
        pod: a name for the process.
        port: on 127.0.0.1.
        ca: vouches for it; None: it speaks no TLS.
        token: that it is asked with.
    """

    job: str
    pod: str
    port: int
    ca: Path | None = None
    token: str = ""

    def config(self) -> dict[str, Any]:
        """As Prometheus has it."""
        labels = {"namespace": "bailiff", "pod": self.pod, "job": self.job}
        config: dict[str, Any] = {
            "job_name": f"{self.job} {self.pod}",
            "static_configs": [{"targets": [f"127.0.0.1:{self.port}"], "labels": labels}],
        }
        if self.ca is not None:
            config |= {"scheme": "https", "tls_config": {"ca_file": str(self.ca)}}
        if self.token:
            config["authorization"] = {"credentials": self.token}
        return config


class Answer(NamedTuple):
    """What a query came to: the series, each with its values over the range."""

    labels: dict[str, str]
    values: list[float]


class Prometheus:
    """One that runs."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}"
        self._began = time.time()

    def ask(self, expr: str) -> list[Answer]:
        """All series of an expression, at each second since the start; numbers alone count."""
        terms = {"query": expr, "start": self._began, "end": time.time(), "step": 1}
        body = urllib.parse.urlencode(terms).encode()
        try:
            told = json.loads(self._get("/api/v1/query_range", body))
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{expr}: {error.read().decode()}") from error
        found = (
            Answer(one["metric"], [float(value) for _, value in one["values"]])
            for one in told["data"]["result"]
        )
        return [one for one in found if any(value == value for value in one.values)]

    def wait_for(self, *expressions: str) -> None:
        """Until each of them has had an answer; AssertionError: it never came."""
        deadline = time.monotonic() + _PATIENCE
        while missing := [one for one in expressions if not self.ask(one)]:
            assert time.monotonic() < deadline, missing
            time.sleep(0.5)

    def is_ready(self) -> bool:
        """Whether it answers queries."""
        with contextlib.suppress(OSError):
            return bool(self._get("/-/ready"))
        return False

    def _get(self, path: str, body: bytes | None = None) -> bytes:
        with urllib.request.urlopen(self._url + path, body, timeout=30) as answer:  # noqa: S310
            found: bytes = answer.read()
            return found


@contextlib.contextmanager
def scraping(targets: Sequence[Target], folder: Path) -> Iterator[Prometheus]:
    """A Prometheus that scrapes these every second."""
    config = {
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [one.config() for one in targets],
    }
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    port = free_port()
    flags = [
        f"--config.file={folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--query.lookback-delta=5s",
    ]
    server = Program("prometheus", flags, folder, program("prometheus"))
    server.start()
    try:
        running = Prometheus(port)
        deadline = time.monotonic() + _READY_SECONDS
        while not running.is_ready():
            assert time.monotonic() < deadline, server.tail()
            time.sleep(0.1)
        yield running
    finally:
        server.stop()
