"""What kubelets are shown: whose token, and whose certificate, goes to whom."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from bailiff.cluster import ConfigError
from bailiff.cluster.kubelets import KubeletSettings
from bailiff.cluster.kubelets.login import KubeletLogin
from bailiff.cluster.login import Login
from bailiff.cluster.tls import Tls
from tests.harness.clocks import LoopClock
from tests.harness.kube.tls import ClientCertificate, make_tls

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.cluster.kubelets.login import Shown

API = Login("https://api", Tls(ca=b"# the API server's"), authorization="Bearer api")
BY_CERTIFICATE = Login("https://api", Tls(certificate=b"pair", key=b"key"))


async def shown(by: Login = API, heard: list[str] | None = None, /, **settings: Any) -> Shown:
    async def current() -> Login:
        return by

    warn = ([] if heard is None else heard).append
    login = KubeletLogin(current, KubeletSettings(**settings), LoopClock(), warn)
    try:
        await login.start()
        return await login.current()
    finally:
        await login.close()


async def test_by_default_all_is_the_api_servers() -> None:
    found = await shown()
    assert found.authorization == "Bearer api"
    assert (found.tls.ca, found.tls.verify) == (API.tls.ca, True)


async def test_a_login_by_certificate_is_shown_too() -> None:
    found = await shown(BY_CERTIFICATE)
    assert (found.authorization, found.tls.certificate, found.tls.key) == (None, b"pair", b"key")


async def test_a_token_for_kubelets_alone_takes_the_place_of_all(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("own\n")
    assert (await shown(token_file=token)).authorization == "Bearer own"
    found = await shown(BY_CERTIFICATE, token_file=token)
    assert (found.authorization, found.tls.certificate) == ("Bearer own", None)


async def test_with_a_certificate_for_kubelets_alone_no_token_goes(tmp_path: Path) -> None:
    own, tls = ClientCertificate(tmp_path), make_tls(tmp_path)
    own.rotate(tls)
    found = await shown(certificate_file=own.certificate, key_file=own.key, ca_file=tls.ca)
    assert (found.authorization, found.tls.certificate) == (None, own.certificate.read_bytes())
    assert found.tls.ca == tls.ca.read_bytes()


async def test_unverified_the_api_servers_token_goes_to_nobody(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as told:
        await shown(insecure=True)
    for option in ("insecure-tls", "token-file", "client-certificate"):
        assert f"--kubelet-{option}" in str(told.value)
    token = tmp_path / "token"
    token.write_text("own")
    found = await shown(insecure=True, token_file=token)
    assert (found.authorization, found.tls.verify) == ("Bearer own", False)


async def test_unverified_a_certificate_may_be_shown_since_nobody_else_can_use_it() -> None:
    both = Login("https://api", BY_CERTIFICATE.tls, authorization="Bearer api")
    found = await shown(both, insecure=True)
    assert (found.authorization, found.tls.certificate) == (None, b"pair")


async def test_unverified_is_warned_of_by_what_others_can_do_then(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("own")
    heard: list[str] = []
    assert await shown(BY_CERTIFICATE, heard, insecure=True)
    assert await shown(API, heard, insecure=True, token_file=token)
    without, with_token = heard
    assert "(--kubelet-insecure-tls)" in without
    assert without.endswith("whoever is on the way can answer in their place")
    assert with_token == f"{without}, and read the token of --kubelet-token-file"


@pytest.mark.parametrize(
    ("setting", "content"),
    [
        ("ca_file", b""),
        ("ca_file", b"no certificate"),
        ("ca_file", None),
        ("token_file", b"  \n"),
        ("token_file", b"two\nlines"),
        ("token_file", b"\xff"),
        ("certificate_file", b"no certificate"),
    ],
)
async def test_files_that_cannot_be_used(
    tmp_path: Path, setting: str, content: bytes | None
) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError):
        await shown(API, **{setting: path})


@pytest.mark.looptime
async def test_files_that_are_replaced_are_read_again(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first")

    async def current() -> Login:
        return API

    login = KubeletLogin(current, KubeletSettings(token_file=token), LoopClock(), lambda _: None)
    await login.start()
    before = await login.current()
    assert await login.current() is before
    token.write_text("second")
    await asyncio.sleep(125)
    assert (await login.current()).authorization == "Bearer second"
    await login.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"address_types": ()},
        {"address_types": ("Internal",)},
        {"default_port": 0},
        {"default_port": 65536},
        {"max_bytes": 0},
        {"max_kept": -1},
        {"timeout": 0.0},
        {"connect_timeout": float("nan")},
        {"timeout": float("inf")},
    ],
)
def test_settings_that_cannot_be_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        KubeletSettings(**wrong)
