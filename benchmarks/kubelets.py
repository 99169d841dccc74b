"""What it takes to read the summaries of a fleet in each round of ten seconds.

`python -m benchmarks.kubelets [NODES ...]`: so many kubelets on loopback, each at an address of its
own (127.1.0.1 and up) with a certificate that is for it, served over TLS by a process of their own.
Each answers with a summary of 110 pods that is another one each time; one in twenty takes
connections and never answers. Measured in the process that reads, round by round: how many nodes
were read, decoded and decided (a round of each is planned, as the worker does), the seconds of CPU
that it took, its memory, and how old what is known of the nodes that answer is at most for 99 % of
all moments: the time from one reading of a node to the next.
In the first round all connections are made; later ones are kept.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import logging
import resource
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import structlog
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bailiff.bootstrap.heap import giving_back_free_memory
from bailiff.clock import SystemClock
from bailiff.cluster.kubelets import (
    Kubelets,
    KubeletSettings,
    MeasuredNode,
    Outcome,
    ReaderSettings,
    SummaryRead,
    SummaryReader,
)
from bailiff.cluster.kubelets.login import KubeletLogin
from bailiff.cluster.login import Login
from bailiff.decisions import Options, Scene
from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.judging import PressureRound
from bailiff.decisions.pressure.state import PressureState
from bailiff.kinds import Node
from bailiff.kinds.stats import Summary
from tests.harness.fake_kubelet import node_at
from tests.harness.kinds import pod_of
from tests.harness.summaries import summary_json

SIZES = (500, 5_000)
ROUNDS = 5
INTERVAL = 10.0
HANGS = 20
# As many as one certificate is for, so that it is not much longer than a real one.
SHARE = 20
PORT = 10250
PODS, CONTAINERS = 110, 1
CHUNK = 32 * 1024
# To OpenSSL at a time.
PIECE = 64 * 1024
NAMELESS = b"node-?????"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
# Every answer has others of its numbers, in places that a node is ranked by.
VARIANTS = 16


def address(number: int) -> str:
    return str(ipaddress.ip_address("127.1.0.1") + number)


def name(number: int) -> str:
    return f"node-{number:05}"


def hangs(number: int) -> bool:
    return number % HANGS == HANGS - 1


class Authority:
    """Signs the certificates of kubelets."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "benchmark")])
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        usage = x509.KeyUsage(
            digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False,
            key_encipherment=False, data_encipherment=False, key_agreement=False,
            encipher_only=False, decipher_only=False,
        )  # fmt: skip
        own = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        made = self._made(self._name, self._key).add_extension(constraints, critical=True)
        made = made.add_extension(usage, critical=True).add_extension(own, critical=False)
        self.pem = made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def context(self, folder: Path, addresses: list[str]) -> ssl.SSLContext:
        """Of a server with a certificate for these addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.IPAddress(ipaddress.ip_address(one)) for one in addresses]
        made = self._made(x509.Name([]), key)
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=True)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        made = made.add_extension(issuer, critical=False)
        pem = made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        both = folder / "pair.pem"
        both.write_bytes(pem + private)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(both)
        return context

    def _made(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now, day = dt.datetime.now(dt.UTC), dt.timedelta(days=1)
        made = x509.CertificateBuilder(self._name, subject).public_key(key.public_key())
        made = made.not_valid_before(now - day).not_valid_after(now + day)
        return made.serial_number(x509.random_serial_number())


class Kubelet:
    """One connection to one of them. It must not be slower than who asks."""

    def __init__(self, tls: ssl.SSLSocket, number: int, bodies: list[bytes]) -> None:
        self._tls = tls
        self._number = number
        self._bodies = bodies
        self._asked = number
        self._left = memoryview(b"")
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(tls.fileno(), self._read)
        self._read()

    def _read(self) -> None:
        try:
            self._tls.do_handshake()
            taken = self._tls.recv(16 * 1024)
        except ssl.SSLWantReadError:
            return
        except OSError:
            taken = b""
        if not taken:
            self._loop.remove_reader(self._tls.fileno())
            self._loop.remove_writer(self._tls.fileno())
            self._tls.close()
        elif taken.endswith(b"\r\n\r\n") and not hangs(self._number):
            self._asked += 1
            body = self._bodies[self._asked % VARIANTS]
            self._left = memoryview(body.replace(NAMELESS, name(self._number).encode(), 1))
            self._write()

    def _write(self) -> None:
        self._loop.remove_writer(self._tls.fileno())
        try:
            while self._left:
                self._left = self._left[self._tls.send(self._left[:PIECE]) :]
        except ssl.SSLWantWriteError:
            self._loop.add_writer(self._tls.fileno(), self._write)
        except OSError:
            self._left = memoryview(b"")


def answers() -> list[bytes]:
    """Whole answers, in chunks as Go's server writes them."""
    made = []
    for seed in range(VARIANTS):
        body = summary_json(NAMELESS.decode(), PODS, CONTAINERS, seed)
        chunks = [body[at : at + CHUNK] for at in range(0, len(body), CHUNK)]
        text = b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in chunks)
        made.append(HEAD + text + b"0\r\n\r\n")
    return made


async def kubelets(nodes: int, folder: Path) -> None:
    """All of them at one port, told apart by the address that is connected to."""
    authority, bodies = Authority(), answers()
    contexts = [
        authority.context(folder, [address(n) for n in range(first, first + SHARE)])
        for first in range(0, nodes, SHARE)
    ]
    loop = asyncio.get_running_loop()
    numbers = {address(number): number for number in range(nodes)}
    listener = socket.create_server(("0.0.0.0", PORT), backlog=4096)
    listener.setblocking(False)
    (folder / "ca.pem").write_bytes(authority.pem)
    print("ready", flush=True)
    while True:
        accepted, _ = await loop.sock_accept(listener)
        accepted.setblocking(False)
        number = numbers[accepted.getsockname()[0]]
        tls = contexts[number // SHARE].wrap_socket(
            accepted, server_side=True, do_handshake_on_connect=False
        )
        Kubelet(tls, number, bodies)


class Told:
    """What came of a round."""

    def __init__(self) -> None:
        self.read = self.failed = self.size = self.victims = 0
        self._states: dict[str, PressureState] = {}
        self._pods = tuple(pod_of(f"web-{n}", "node-0", uid=f"u{n}") for n in range(PODS))
        self.slowest = 0.0
        self.at: dict[str, list[float]] = defaultdict(list)

    def __call__(self, node: str, outcome: Outcome) -> None:
        if isinstance(outcome, SummaryRead):
            self.read += 1
            self.size += outcome.size
            self._decide(node, outcome.measured)
            self.slowest = max(self.slowest, outcome.seconds)
            self.at[node].append(time.monotonic())
        else:
            self.failed += 1

    def _decide(self, node: str, measured: MeasuredNode) -> None:
        """Plan a round as the worker does, and keep nothing but its state."""
        facts = PressureFacts(
            summary=Summary(node=measured.node),
            kubelet_version="v1.37.1",
            state=self._states.get(node, PressureState()),
        )
        scene = Scene(self._pods, dt.datetime.now(dt.UTC), fake(0), neighbours=())
        planned = PressureRound(scene, facts, Options(), lambda: measured.pods)
        self._states[node] = planned.report.next
        self.victims += len(planned.report.victims)

    def ages(self) -> list[float]:
        return sorted(b - a for moments in self.at.values() for a, b in pairwise(moments))


class Lateness:
    """How late the event loop is at most: what else runs in it waits as long."""

    def __init__(self) -> None:
        self.most = 0.0

    async def run(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.02)
            self.most = max(self.most, time.monotonic() - before - 0.02)


async def read(nodes: int, folder: Path) -> None:
    """The subject."""
    clock = SystemClock()
    settings = KubeletSettings(
        ca_file=folder / "ca.pem", networks=(ipaddress.ip_network("127.0.0.0/8"),)
    )
    login = KubeletLogin(_api, settings, clock)
    await login.start()
    told, late = Told(), Lateness()
    async with (
        giving_back_free_memory(),
        Kubelets(login, settings, clock, None) as own,
        asyncio.TaskGroup() as group,
    ):
        reader = SummaryReader(own, told, clock, ReaderSettings(interval=INTERVAL))
        for number in range(nodes):
            reader.follow(fake(number))
        tasks = [group.create_task(reader.run()), group.create_task(late.run())]
        for number in range(ROUNDS):
            await one_round(number, told, late)
        for task in tasks:
            task.cancel()
    ages = told.ages() or [0.0]
    print(f"{'age of the stats when they are replaced: p50, p99, most':58}"
          f"{quantile(ages, 0.5):6.2f}{quantile(ages, 0.99):7.2f}{ages[-1]:7.2f} s")  # fmt: skip


async def one_round(number: int, told: Told, late: Lateness) -> None:
    told.read = told.failed = told.size = 0
    told.slowest = late.most = 0.0
    cpu = time.process_time()
    await asyncio.sleep(INTERVAL)
    cpu = time.process_time() - cpu
    print(
        f"round {number + 1}: {told.read:6,} read, {told.failed:4} failed,"
        f" {told.size / max(told.read, 1) / 1000:5.0f} kB each, CPU {cpu:5.2f} s"
        f" ({cpu / max(told.read, 1) * 1000:.2f} ms each), slowest {told.slowest * 1000:6.0f} ms,"
        f" loop late {late.most * 1000:4.0f} ms, memory {resident() / 2**20:4.0f} MiB",
        flush=True,
    )


def resident() -> int:
    """Bytes of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def quantile(values: list[float], part: float) -> float:
    return values[int(part * (len(values) - 1))]


async def _api() -> Login:
    return _LOGIN


_LOGIN = Login("https://api", authorization="Bearer benchmark")


def fake(number: int) -> Node:
    return node_at(name(number), address(number), PORT)


def scene(nodes: int) -> None:
    print(f"{nodes:,} nodes of 110 pods, one in {HANGS} hangs; rounds of {INTERVAL:g} s")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.kubelets", "serve", str(nodes), folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as servers:
            try:
                assert servers.stdout is not None
                servers.stdout.readline()
                with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                    runner.run(read(nodes, Path(folder)))
            finally:
                servers.terminate()


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    match sys.argv[1:]:
        case ["serve", nodes, folder]:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(kubelets(int(nodes), Path(folder)))
        case chosen:
            for size in map(int, chosen) if chosen else SIZES:
                scene(size)


if __name__ == "__main__":
    main()
