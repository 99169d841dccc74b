"""The files that a process serves TLS with: what is taken, what is refused, what is told."""

from __future__ import annotations

import datetime as dt
import os
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from prometheus_client import CollectorRegistry

from bailiff.serving import ServingTls, TlsFiles, TlsUnusableError
from tests.harness.kube.tls import Tls, new_pair
from tests.harness.secured import followed, made, serving_tls, until

EXPIRY = "bailiff_tls_certificate_expiry_timestamp_seconds"


@pytest.fixture
def tls(tmp_path: Path) -> Tls:
    return made(tmp_path / "first")


def reloads(registry: CollectorRegistry, result: str) -> float:
    return registry.get_sample_value("bailiff_tls_reloads_total", {"result": result}) or 0.0


def written(tls: Tls, file: str, content: bytes | None = None) -> bytes:
    """Put something into one of the files, if it is given; what stood there."""
    path: Path = getattr(tls, file)
    before = path.read_bytes()
    if content is not None:
        path.write_bytes(content)
    return before


def encrypted_key(_: Tls) -> bytes:
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )


UNUSABLE = {
    "no certificate": ("certificate", lambda _: b"-"),
    "empty": ("certificate", lambda _: b""),
    "half written": ("certificate", lambda tls: tls.certificate.read_bytes()[:200]),
    "no key": ("key", lambda _: b"-"),
    "another's key": ("key", lambda tls: new_pair(tls)[1]),
    "an encrypted key": ("key", encrypted_key),
    "no CA": ("ca", lambda _: b"-"),
    "an empty CA": ("ca", lambda _: b""),
    "too large": ("ca", lambda tls: tls.ca.read_bytes() + b"#" * 2**20),
}


@pytest.mark.parametrize(("file", "content"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_what_cannot_serve_is_refused_at_the_start_and_the_file_named(tls, file, content) -> None:
    path: Path = getattr(tls, file)
    path.write_bytes(content(tls))
    with pytest.raises(TlsUnusableError, match=str(path)):
        serving_tls(tls, client_ca=tls.ca)


def test_of_files_that_were_swapped_it_is_said_which_is_what(tls) -> None:
    certificate, key = tls.certificate.read_bytes(), tls.key.read_bytes()
    written(tls, "certificate", key)
    with pytest.raises(TlsUnusableError, match=f"^{tls.certificate}: no certificate in PEM$"):
        serving_tls(tls)
    written(tls, "certificate", certificate)
    written(tls, "key", certificate)
    with pytest.raises(TlsUnusableError, match=f"^{tls.key}: no private key in PEM$"):
        serving_tls(tls)


@pytest.mark.parametrize("file", ["certificate", "key", "ca"])
@pytest.mark.parametrize("make", [None, Path.mkdir, os.mkfifo], ids=["none", "folder", "FIFO"])
def test_what_is_no_file_is_refused_and_nothing_waits_for_it(tls, file, make) -> None:
    path: Path = getattr(tls, file)
    path.unlink()
    if make is not None:
        make(path)
    with pytest.raises(TlsUnusableError, match=str(path)):
        serving_tls(tls, client_ca=tls.ca)


@pytest.mark.parametrize(("file", "content"), UNUSABLE.values(), ids=UNUSABLE.keys())
async def test_what_cannot_serve_later_changes_nothing_and_is_told(tls, file, content) -> None:
    registry = CollectorRegistry()
    serving = serving_tls(tls, registry, tls.ca)
    before, expiry = serving.in_force, registry.get_sample_value(EXPIRY)
    bad, good = content(tls), written(tls, file)
    async with followed(serving):
        written(tls, file, bad)
        await until(lambda: reloads(registry, "failed") == 1)
        assert serving.in_force is before
        assert registry.get_sample_value(EXPIRY) == expiry
        assert registry.get_sample_value("bailiff_tls_certificate_current") == 0
        written(tls, file, good)
        await until(lambda: registry.get_sample_value("bailiff_tls_certificate_current") == 1)
    assert reloads(registry, "failed") == 1
    assert serving.in_force.content == before.content


async def test_a_new_pair_is_taken_when_both_are_there(tls) -> None:
    registry = CollectorRegistry()
    serving = serving_tls(tls, registry)
    before = serving.in_force
    certificate, key = new_pair(tls, dt.timedelta(days=30))
    async with followed(serving):
        tls.certificate.write_bytes(certificate)
        await until(lambda: reloads(registry, "failed") == 1)
        assert serving.in_force is before
        tls.key.write_bytes(key)
        await until(lambda: reloads(registry, "applied") == 2)
    assert serving.in_force.content.certificate == certificate
    # A context that is in use is never changed.
    assert serving.in_force.http is not before.http
    assert serving.in_force.grpc is not before.grpc
    expires = x509.load_pem_x509_certificate(certificate).not_valid_after_utc
    assert registry.get_sample_value(EXPIRY) == expires.timestamp()


async def test_a_mounted_secret_is_followed_by_its_symbolic_link(tls, tmp_path) -> None:
    """The kubelet writes a new folder, and then renames a link to it over the old one."""
    certificate, key = new_pair(tls)
    for name, pair in (("one", (tls.certificate, tls.key)), ("two", None)):
        (tmp_path / name).mkdir()
        contents = (certificate, key) if pair is None else [one.read_bytes() for one in pair]
        for file, content in zip(("tls.crt", "tls.key"), contents, strict=True):
            (tmp_path / name / file).write_bytes(content)
    (tmp_path / "..data").symlink_to("one")
    files = TlsFiles(tmp_path / "..data" / "tls.crt", tmp_path / "..data" / "tls.key")
    serving = ServingTls(files, CollectorRegistry(), 0.01)
    async with followed(serving):
        (tmp_path / "new").symlink_to("two")
        (tmp_path / "new").rename(tmp_path / "..data")
        await until(lambda: serving.in_force.content.certificate == certificate)


async def test_a_content_counts_once_two_looks_have_shown_it(tls, monkeypatch) -> None:
    """What is seen once may be half written, and yet be a pair: another chain, say."""
    serving = serving_tls(tls)
    whole = serving.in_force.content
    half, other = (type(whole)(whole.certificate + end, whole.key) for end in (b"\n", b"\n\n"))
    looks = [half, whole, half, other, other]
    taken: list[object] = []
    monkeypatch.setattr("bailiff.serving.tls._see", lambda _: looks.pop(0) if looks else other)
    monkeypatch.setattr(serving, "_metrics", Counting(taken))
    async with followed(serving):
        await until(lambda: bool(taken))
    assert taken == [other]


class Counting:
    """Of metrics: what was applied."""

    def __init__(self, taken: list[object]) -> None:
        self._taken = taken

    def applied(self, found) -> None:
        self._taken.append(found.content)


def test_an_expired_certificate_is_served_and_its_expiry_told(tls) -> None:
    """As kube-apiserver does: some clients still talk to it, and nobody would read an exit."""
    registry = CollectorRegistry()
    tls.certificate.write_bytes((pair := new_pair(tls, dt.timedelta(seconds=-5)))[0])
    tls.key.write_bytes(pair[1])
    serving = serving_tls(tls, registry)
    expiry = registry.get_sample_value(EXPIRY)
    assert expiry is not None
    assert expiry == serving.in_force.expires_at.timestamp()
    assert dt.datetime.fromtimestamp(expiry, dt.UTC) < dt.datetime.now(dt.UTC)


@pytest.mark.parametrize("face", ["http", "grpc"])
def test_a_context_is_modern(tls, face) -> None:
    context = getattr(serving_tls(tls, client_ca=tls.ca).in_force, face)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    names = {cipher["name"] for cipher in context.get_ciphers()}
    for name in names:
        assert name.startswith(("TLS_", "ECDHE-"))
        assert "GCM" in name or "CHACHA20" in name
    assert context.options & ssl.OP_NO_RENEGOTIATION


def test_no_secret_stands_in_a_repr(tls) -> None:
    serving = serving_tls(tls)
    assert "PRIVATE" not in repr(serving.in_force)
