"""Kubeconfigs: what they say is done, what is wrong is told without a secret in it."""

from __future__ import annotations

import asyncio
import base64
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives import serialization

from bailiff.cluster import ConfigError, connect
from bailiff.cluster.kubeconfig import kubeconfig_reader
from tests.harness.kube.tls import ClientCertificate, make_tls

SECRET = "s3cr3t-t0ken"


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
    own = {"certificate-authority": ca.name, "tls-server-name": "x"}
    found = await kubeconfig_reader(kubeconfig(tmp_path, {"token": SECRET}, **own), None)()
    assert found.authorization == f"Bearer {SECRET}"
    assert (found.host, found.tls.server_name) == ("https://127.0.0.1:1", "x")
    assert found.tls.ca == ca.read_bytes()
    assert SECRET not in repr(found)


async def test_a_token_file_is_what_the_login_depends_on(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(f"{SECRET}\n")
    found = await kubeconfig_reader(kubeconfig(tmp_path, {"tokenFile": "token"}), None)()
    assert found.authorization == f"Bearer {SECRET}"
    assert not found.files.changed()
    token.write_text("another")
    assert found.files.changed()


async def test_a_token_file_counts_before_a_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("of the file")
    path = kubeconfig(tmp_path, {"token": SECRET, "tokenFile": "token"})
    assert (await kubeconfig_reader(path, None)()).authorization == "Bearer of the file"


def id_token(expires: int) -> str:
    claims = base64.b64encode(json.dumps({"exp": expires}).encode()).decode()
    return f"head.{claims}.signature"


async def test_an_oidc_token_that_is_valid_needs_nobody(tmp_path: Path) -> None:
    token = id_token(2**33)
    user = {"auth-provider": {"name": "oidc", "config": {"id-token": token}}, "token": SECRET}
    found = await kubeconfig_reader(kubeconfig(tmp_path, user), None)()
    assert found.authorization == f"Bearer {token}"


async def test_a_name_and_a_password(tmp_path: Path) -> None:
    user = {"username": "me", "password": SECRET}
    found = await kubeconfig_reader(kubeconfig(tmp_path, user), None)()
    assert found.authorization == f"Basic {base64.b64encode(f'me:{SECRET}'.encode()).decode()}"


@pytest.mark.parametrize("inline", [False, True])
async def test_client_certificates_need_no_token_and_leave_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, inline: bool
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    tls, own = make_tls(tmp_path), ClientCertificate(tmp_path)
    path = tmp_path / "config"
    for _ in range(2):
        own.rotate(tls)
        files = {"client-certificate": own.certificate, "client-key": own.key}
        user = {key: str(file) for key, file in files.items()}
        if inline:
            user = {
                f"{k}-data": base64.b64encode(f.read_bytes()).decode() for k, f in files.items()
            }
        found = await kubeconfig_reader(kubeconfig(tmp_path, user), None)()
        assert found.authorization is None
        assert found.tls.certificate == own.certificate.read_bytes()
        assert "PRIVATE" not in repr(found)
    own.rotate(tls)
    assert found.files.changed() is not inline
    path.touch()
    assert found.files.changed()
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("spoilt", ["certificate", "key", "ca"])
async def test_certificates_that_do_not_fit_together_are_refused(
    tmp_path: Path, spoilt: str
) -> None:
    tls, own = make_tls(tmp_path), ClientCertificate(tmp_path)
    own.rotate(tls)
    files = {"certificate": own.certificate, "key": own.key, "ca": tls.ca}
    user = {"client-certificate": str(own.certificate), "client-key": str(own.key)}
    read = kubeconfig_reader(
        kubeconfig(tmp_path, user, **{"certificate-authority": str(tls.ca)}), None
    )
    await read()
    content = files[spoilt].read_bytes()
    if spoilt != "ca":
        # One file of the pair is the new one, as in the middle of a rotation.
        own.rotate(tls)
        files[spoilt].write_bytes(content)
        with pytest.raises(ConfigError, match="certificates cannot be used"):
            await read()
    # Half a file, as in the middle of a write.
    files[spoilt].write_bytes(content[: len(content) // 2])
    with pytest.raises(ConfigError, match="certificates cannot be used"):
        await read()


async def test_a_key_with_a_password_is_refused_and_nobody_is_asked_for_it(
    tmp_path: Path,
) -> None:
    own = ClientCertificate(tmp_path)
    own.rotate(make_tls(tmp_path))
    key = serialization.load_pem_private_key(own.key.read_bytes(), None)
    own.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.BestAvailableEncryption(b"password"),
        )
    )
    user = {"client-certificate": str(own.certificate), "client-key": str(own.key)}
    with pytest.raises(ConfigError, match="certificates cannot be used"):
        await kubeconfig_reader(kubeconfig(tmp_path, user), None)()


async def test_the_context_of_the_first_reading_is_kept(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, {"token": "mine"})
    read = kubeconfig_reader(path, None)
    await read()
    content = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(content | {"current-context": "other"}))
    assert (await read()).authorization == "Bearer mine"


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
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        ({"server": ""}, "no server"),
        ({"server": 7}, "server is not a text"),
        ({"proxy-url": "socks5://127.0.0.1"}, "socks5 are not supported, only http and https"),
        ({"proxy-url": f"http://me:{SECRET}@"}, "not the URL of a proxy"),
        ({"proxy-url": f"{SECRET}"}, "not the URL of a proxy"),
        # Not taken for true, though any text is true in Python.
        ({"insecure-skip-tls-verify": "false"}, "neither true nor false"),
    ],
)
async def test_a_cluster_that_cannot_be_used(
    tmp_path: Path, cluster: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        await connect(kubeconfig(tmp_path, {"token": "x"}, **cluster))
    assert SECRET not in str(caught.value)


async def test_the_proxy_of_a_kubeconfig_comes_before_the_environments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://environment:3128")
    server = "https://kube.example"
    path = kubeconfig(tmp_path, {}, server=server)
    assert (await kubeconfig_reader(path, None)()).proxy == "http://environment:3128"
    path = kubeconfig(tmp_path, {}, server=server, **{"proxy-url": f"http://me:{SECRET}@own:1"})
    found = await kubeconfig_reader(path, None)()
    assert found.proxy == f"http://me:{SECRET}@own:1"
    assert SECRET not in repr(found)


async def test_a_kubeconfig_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        await connect(tmp_path / "none")


@pytest.mark.parametrize(
    "user",
    [
        {"token": SECRET, "exec": {"args": [SECRET]}},
        {"token": f"{SECRET}\r\nX-Other: 1"},
        {"exec": {"apiVersion": SECRET, "command": 7, "args": SECRET}},
        {"exec": {"apiVersion": SECRET, "command": "x", "args": [SECRET]}},
        {"exec": {"apiVersion": "v1", "command": "x", "interactiveMode": SECRET}},
        {"auth-provider": {"name": "oidc", "config": {"id-token": SECRET}}},
        {"auth-provider": {"name": "oidc", "config": {"refresh-token": SECRET}}},
        {"auth-provider": {"name": "oidc"}},
        {"client-certificate-data": SECRET},
        {"client-certificate-data": base64.b64encode(SECRET.encode()).decode()},
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


async def test_of_two_entries_of_one_name_the_first_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it is for client-go, the context that is current included (tools/clientcmd/loader.go)."""
    paths = [tmp_path / "first", tmp_path / "second"]
    for path in paths:
        path.mkdir()
        kubeconfig(path, {"token": path.name})
    second = yaml.safe_load((paths[1] / "config").read_text())
    (paths[1] / "config").write_text(yaml.safe_dump(second | {"current-context": "other"}))
    monkeypatch.setenv("KUBECONFIG", ":".join(str(path / "config") for path in paths))
    assert (await kubeconfig_reader(None, None)()).authorization == "Bearer first"


async def test_parts_of_several_files_name_files_beside_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user stands in another file than the cluster, and its certificate beside it."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    tls, own = make_tls(here), ClientCertificate(there)
    own.rotate(tls)
    user = {"client-certificate": own.certificate.name, "client-key": own.key.name}
    whole = yaml.safe_load(
        kubeconfig(here, user, **{"certificate-authority": tls.ca.name}).read_text()
    )
    users = there / "config"
    users.write_text(yaml.safe_dump({"users": whole.pop("users")}))
    (here / "config").write_text(yaml.safe_dump(whole))
    monkeypatch.setenv("KUBECONFIG", f"{here / 'config'}:{users}:{tmp_path / 'none'}")
    found = await kubeconfig_reader(None, None)()
    assert found.tls.certificate == own.certificate.read_bytes()
    assert found.tls.ca == tls.ca.read_bytes()


async def test_one_way_in_at_a_time(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not both"):
        await connect(tmp_path, in_cluster=True)
