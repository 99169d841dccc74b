"""Exec plugins: what they are told, what they may answer, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import signal
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bailiff.cluster import ConfigError
from bailiff.cluster.kubeconfig import kubeconfig_reader
from tests.harness.kube.exec_plugins import V1, plugin, says
from tests.harness.kube.tls import ClientCertificate, make_tls
from tests.harness.working import until
from tests.unit.cluster.test_kubeconfig import SECRET, kubeconfig

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.cluster.login import Login

V1BETA1 = "client.authentication.k8s.io/v1beta1"


async def login(folder: Path, user: dict[str, Any], **cluster: Any) -> Login:
    return await kubeconfig_reader(kubeconfig(folder, user, **cluster), None)()


@pytest.mark.parametrize("version", [V1, V1BETA1])
async def test_a_token_and_when_it_ends(tmp_path: Path, version: str) -> None:
    answer = says(version, token=SECRET, expirationTimestamp="2026-01-01T01:00:00+01:00")
    found = await login(tmp_path, plugin(tmp_path, answer, version))
    assert found.authorization == f"Bearer {SECRET}"
    assert found.expires_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert SECRET not in repr(found)


async def test_a_client_certificate(tmp_path: Path) -> None:
    own = ClientCertificate(tmp_path)
    own.rotate(make_tls(tmp_path))
    pair = {"clientCertificateData": own.certificate, "clientKeyData": own.key}
    answer = says(**{key: file.read_text() for key, file in pair.items()})
    found = await login(tmp_path, plugin(tmp_path, answer))
    assert found.authorization is None
    assert (found.tls.certificate, found.tls.key) == (
        own.certificate.read_bytes(),
        own.key.read_bytes(),
    )
    assert "PRIVATE" not in repr(found)


TELLS = """
import json, os, sys
path = os.environ["SEEN"]
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
seen = {"info": info, "args": sys.argv[1:], "input": sys.stdin.read(), "session": os.getsid(0)}
with open(path, "w") as file:
    json.dump(seen, file)
"""


@pytest.mark.parametrize("told", [False, True])
async def test_what_a_plugin_is_told(tmp_path: Path, *, told: bool) -> None:
    seen = tmp_path / "seen"
    ca = make_tls(tmp_path).ca
    user = plugin(tmp_path, TELLS + says(token="x"), env=[{"name": "SEEN", "value": str(seen)}])
    user["exec"] |= {"provideClusterInfo": told, "args": [*user["exec"]["args"], "--region", "x"]}
    cluster = {
        "certificate-authority": str(ca),
        "tls-server-name": "name",
        "proxy-url": "http://proxy:3128",
        "extensions": [
            {"name": "other", "extension": 7},
            {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}},
        ],
    }
    await login(tmp_path, user, **cluster)
    found = json.loads(seen.read_text())
    spec: dict[str, Any] = {"interactive": False}
    if told:
        spec["cluster"] = {
            "server": "https://127.0.0.1:1",
            "tls-server-name": "name",
            "certificate-authority-data": base64.b64encode(ca.read_bytes()).decode(),
            "proxy-url": "http://proxy:3128",
            "config": {"audience": "a"},
        }
    assert found["info"] == {"kind": "ExecCredential", "apiVersion": V1, "spec": spec}
    assert (found["args"], found["input"]) == (["--region", "x"], "")
    assert found["session"] != os.getsid(0)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"print({SECRET!r}); raise SystemExit(3)", "exit code 3"),
        (f"print({SECRET!r})", "printed no ExecCredential"),
        ("", "printed no ExecCredential"),
        ("print('{}')", "another version"),
        (says(V1BETA1, token=SECRET), "another version"),
        (says(), "no token and no certificate"),
        (says(token=SECRET, expirationTimestamp=SECRET), "printed no ExecCredential"),
        (says(token=SECRET, expirationTimestamp="2026-01-01T00:00:00"), "no ExecCredential"),
        (says(clientCertificateData=SECRET), "not both"),
        (says(token="x", clientKeyData=SECRET), "not both"),
        (says(clientCertificateData=SECRET, clientKeyData=SECRET), "cannot be used"),
        (says(token=f"{SECRET}\n{SECRET}"), "no HTTP header may hold"),
        (f"print('x' * {2**20 + 1})", "more than 1048576 bytes"),
        ("while True: print('x' * 2**16)", "more than 1048576 bytes"),
    ],
)
async def test_an_answer_that_is_none(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        await login(tmp_path, plugin(tmp_path, body))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"apiVersion": "client.authentication.k8s.io/v1alpha1"}, "apiVersion is none of"),
        ({"command": ""}, "no command"),
        ({"interactiveMode": "Always"}, "there is no terminal"),
        ({"interactiveMode": "Sometimes"}, "not as Kubernetes defines it"),
        ({"args": [8080]}, "not as Kubernetes defines it"),
        ({"command": "bailiff-no-such-plugin", "installHint": "brew install\n  it\x1b[1m"},
         r"No such file or directory\. brew install it\[1m$"),
    ],
)  # fmt: skip
async def test_a_plugin_that_cannot_be_run(
    tmp_path: Path, wrong: dict[str, Any], said: str
) -> None:
    user = plugin(tmp_path, says(token="x"))
    with pytest.raises(ConfigError, match=said):
        await login(tmp_path, {"exec": user["exec"] | wrong})


async def test_a_token_in_the_kubeconfig_spares_the_plugin(tmp_path: Path) -> None:
    user = plugin(tmp_path, "raise SystemExit(3)")
    assert (await login(tmp_path, user | {"token": "own"})).authorization == "Bearer own"


async def test_a_relative_command_is_beside_the_kubeconfig(tmp_path: Path) -> None:
    user = plugin(tmp_path, "")
    script = tmp_path / "bin" / "login"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable} -S\n{says(token='x')}")
    script.chmod(0o700)
    found = await login(tmp_path, {"exec": user["exec"] | {"command": "bin/login", "args": None}})
    assert found.authorization == "Bearer x"


# Two processes of one group, neither of which ends by itself or when it is asked to; the second
# holds the output open.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child:
    with open(sys.argv[1], "w") as file:
        print(os.getpid(), child, file=file)
    if sys.argv[2] == "leaves":
        raise SystemExit(0)
time.sleep(600)
"""


def slowly() -> None:
    """Keep the loop from going on, as a busy machine does, while a program gets under way."""
    time.sleep(0.1)


@pytest.mark.parametrize(
    ("leader", "between"), [("stays", None), ("leaves", None), ("stays", slowly)]
)
async def test_a_plugin_that_hangs_ends_with_all_it_has_started(
    tmp_path: Path, leader: str, between: Callable[[], None] | None
) -> None:
    """Given up while it runs; when its leader is gone; or before we know that it was started."""
    started = tmp_path / "started"
    user = plugin(tmp_path, STUBBORN)
    user["exec"]["args"] += [str(started), leader]
    running = asyncio.create_task(login(tmp_path, user))
    while not (started.exists() and started.read_text().endswith("\n")):
        await asyncio.sleep(0 if between else 0.02)
        if between is not None:
            between()
    processes = [int(each) for each in started.read_text().split()]
    try:
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await until(lambda: not any(map(runs, processes)))
    finally:
        for each in processes:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)


def runs(process: int) -> bool:
    """Whether a process is there and is not merely waiting for its parent to look at its end."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
