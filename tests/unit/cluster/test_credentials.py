"""Logins are read, renewed in time, and never shown."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes_asyncio.client import Configuration

from bailiff.cluster import ConfigError, connect
from bailiff.cluster.credentials import (
    Credentials,
    Login,
    kubeconfig_reader,
)
from tests.harness.clocks import ManualClock
from tests.harness.kube.tls import make_tls

SECRET = "s3cr3t-t0ken"


def login(token: str, clock: ManualClock | None = None, life: float | None = None) -> Login:
    configuration = type.__call__(Configuration)
    configuration.api_key["BearerToken"] = f"Bearer {token}\n"
    expires = None if life is None or clock is None else clock.now() + timedelta(seconds=life)
    return Login(configuration, expires)


class Script:
    """A reader that gives one login after another, then fails; it counts."""

    def __init__(self, *logins: Login) -> None:
        self._logins = list(logins)
        self.reads = 0

    async def __call__(self) -> Login:
        self.reads += 1
        await asyncio.sleep(0)
        if not self._logins:
            raise ConfigError("nothing more")
        return self._logins.pop(0)


async def test_a_login_without_an_end_is_read_once() -> None:
    clock, script = ManualClock(), Script(login("a"))
    credentials = Credentials(script, clock, 1)
    assert (await credentials.current()).authorization == "Bearer a"
    clock.advance(1e6)
    await credentials.current()
    assert script.reads == 1


@pytest.mark.parametrize(("life", "renewed_by"), [(3600, 3540), (40, 20)])
async def test_a_login_is_renewed_before_it_expires(life: float, renewed_by: float) -> None:
    clock = ManualClock()
    script = Script(login("a", clock, life), login("b"))
    credentials = Credentials(script, clock, 1)
    await credentials.current()
    clock.advance(renewed_by - 1)
    assert (await credentials.current()).authorization == "Bearer a"
    clock.advance(1)
    assert (await credentials.current()).authorization == "Bearer b"


async def test_a_rejected_login_is_read_again_once_by_all_who_were_rejected() -> None:
    script = Script(login("a"), login("b"))
    credentials = Credentials(script, ManualClock(), 1)
    rejected = await credentials.current()
    renewed = await asyncio.gather(*(credentials.after_rejection(rejected) for _ in range(5)))
    assert {one.authorization for one in renewed if one is not None} == {"Bearer b"}
    assert script.reads == 2


async def test_a_login_that_stays_wrong_is_not_read_for_every_request() -> None:
    clock = ManualClock()
    script = Script(*(login("a") for _ in range(10)))
    credentials = Credentials(script, clock, 1)
    rejected = await credentials.current()
    for _ in range(5):
        assert await credentials.after_rejection(rejected) is None
    assert script.reads == 2
    clock.advance(5)
    await credentials.after_rejection(rejected)
    assert script.reads == 3


async def test_a_renewal_that_fails_keeps_the_login_and_is_tried_again() -> None:
    clock = ManualClock()
    script = Script(login("a", clock, 10))
    credentials = Credentials(script, clock, 1)
    await credentials.current()
    clock.advance(100)
    for _ in range(3):
        assert (await credentials.current()).authorization == "Bearer a"
    assert script.reads == 2
    clock.advance(5)
    await credentials.current()
    assert script.reads == 3


async def test_a_login_that_hangs_is_given_up() -> None:
    async def never() -> Login:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(ConfigError, match="no credentials after"):
        await Credentials(never, ManualClock(), 0.01).current()


def kubeconfig(folder: Path, user: Any, **cluster: Any) -> Path:
    path = folder / "config"
    entry = {"server": "https://127.0.0.1:1/"} | cluster
    content = {
        "current-context": "c",
        "clusters": [{"name": "k", "cluster": entry}],
        "contexts": [
            {"name": "c", "context": {"cluster": "k", "user": "u"}},
            {"name": "other", "context": {"cluster": "k", "user": "nobody"}},
        ],
        "users": [{"name": "u", "user": user}],
    }
    path.write_text(yaml.safe_dump(content))
    return path


async def test_a_token_in_the_kubeconfig(tmp_path: Path) -> None:
    ca = make_tls(tmp_path).ca
    path = kubeconfig(
        tmp_path, {"token": SECRET}, **{"certificate-authority": ca.name, "tls-server-name": "x"}
    )
    found = await kubeconfig_reader(path, None)()
    assert found.authorization == f"Bearer {SECRET}"
    own = found.configuration
    assert (own.host, own.tls_server_name) == ("https://127.0.0.1:1", "x")
    assert own.ssl_ca_cert == str(ca)
    assert SECRET not in repr(found)


async def test_a_token_file_is_read_again_every_minute(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("one\n")
    path = kubeconfig(tmp_path, {"tokenFile": "token"})
    clock = ManualClock()
    credentials = Credentials(kubeconfig_reader(path, None), clock, 1)
    assert (await credentials.current()).authorization == "Bearer one"
    token.write_text("two\n")
    assert (await credentials.current()).authorization == "Bearer one"
    clock.advance(60)
    assert (await credentials.current()).authorization == "Bearer two"


async def test_client_certificates_need_no_token(tmp_path: Path) -> None:
    tls = make_tls(tmp_path)
    user = {"client-certificate": str(tls.certificate), "client-key": str(tls.key)}
    found = await kubeconfig_reader(kubeconfig(tmp_path, user), None)()
    assert found.authorization is None
    assert found.configuration.cert_file == str(tls.certificate)


def plugin(folder: Path, body: str) -> dict[str, Any]:
    script = folder / "plugin.py"
    script.write_text(body)
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": [str(script)],
        }
    }


def says(**status: str) -> str:
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": status,
    }
    return f"print({json.dumps(json.dumps(answer))})"


async def test_an_exec_plugin_is_run_again_before_its_token_expires(tmp_path: Path) -> None:
    user = plugin(tmp_path, says(token="one", expirationTimestamp="2026-01-01T01:00:00Z"))
    clock = ManualClock()
    credentials = Credentials(kubeconfig_reader(kubeconfig(tmp_path, user), None), clock, 30)
    assert (await credentials.current()).authorization == "Bearer one"
    plugin(tmp_path, says(token="two"))
    clock.advance(3539)
    assert (await credentials.current()).authorization == "Bearer one"
    clock.advance(1)
    assert (await credentials.current()).authorization == "Bearer two"


@pytest.mark.parametrize(
    "body",
    ["raise SystemExit(3)", "print('no json')", says(), "print('{}')"],
)
async def test_an_exec_plugin_that_fails_is_an_error(tmp_path: Path, body: str) -> None:
    path = kubeconfig(tmp_path, plugin(tmp_path, body))
    read = kubeconfig_reader(path, None)
    if body == says():
        # The library takes an answer without credentials for one: the server will refuse it.
        assert (await read()).authorization is None
        return
    with pytest.raises(ConfigError):
        await read()


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("", None),
        ("{", None),
        ("[]", None),
        ("clusters: 7", None),
        ("current-context: x", None),
        (None, "no-such-context"),
        (None, "other"),
    ],
)
async def test_a_kubeconfig_that_cannot_be_used(
    tmp_path: Path, text: str | None, context: str | None
) -> None:
    path = kubeconfig(tmp_path, {"token": SECRET})
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match="config"):
        await connect(path, context=context)


async def test_a_kubeconfig_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        await connect(tmp_path / "none")


@pytest.mark.parametrize(
    "user",
    [
        {"token": SECRET, "exec": {"args": [SECRET]}},
        {"exec": {"apiVersion": SECRET, "command": 7, "args": SECRET}},
        {"auth-provider": {"name": "oidc", "config": {"id-token": SECRET}}},
        {"auth-provider": {"name": "oidc", "config": {"refresh-token": SECRET}}},
        {"auth-provider": {"name": "oidc"}},
        {"client-certificate-data": SECRET},
        {"tokenFile": f"{SECRET}/none"},
    ],
)
async def test_no_error_shows_a_secret(tmp_path: Path, user: dict[str, Any]) -> None:
    path = kubeconfig(tmp_path, user)
    with pytest.raises(ConfigError) as caught:
        await connect(path)
    if "tokenFile" not in user:  # the name of a file is no secret
        assert SECRET not in str(caught.value)
        assert SECRET not in repr(caught.value)
        assert SECRET not in repr(caught.value.__cause__)


async def test_the_environment_names_the_kubeconfig(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path, {"token": "env"})))
    assert (await kubeconfig_reader(None, None)()).authorization == "Bearer env"


async def test_one_way_in_at_a_time(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not both"):
        await connect(tmp_path, in_cluster=True)
