"""A certificate and its key get into Python's TLS, and no folder ever sees the key."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

import pytest

from bailiff import key_pairs
from tests.harness.kube.tls import Tls, make_tls, new_pair


@pytest.fixture
def tls(tmp_path: Path) -> Tls:
    return make_tls(tmp_path)


@pytest.fixture(params=[True, False], ids=["Linux", "elsewhere"])
def folder(request, monkeypatch, tmp_path) -> Path:
    """Where temporary files would be."""
    own: Path = tmp_path / "temporary"
    own.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    monkeypatch.setattr(key_pairs, "_IS_LINUX", request.param)
    monkeypatch.setattr(key_pairs, "_DESCRIPTORS", "/proc/self/fd" if request.param else "/dev/fd")
    return own


class Looking(ssl.SSLContext):
    """Sees what stands in a folder while a pair is loaded."""

    folder: Path

    def load_cert_chain(self, *args, **kwargs) -> None:
        assert list(self.folder.iterdir()) == []
        super().load_cert_chain(*args, **kwargs)


def test_no_folder_sees_the_key(folder, tls) -> None:
    """So that it stays nowhere when the process is killed, at whatever moment."""
    context = Looking(ssl.PROTOCOL_TLS_SERVER)
    context.folder = folder
    key_pairs.load_pair(context, tls.certificate.read_bytes(), tls.key.read_bytes())
    # In one PEM, as kubeconfigs have them.
    both = tls.key.read_bytes() + tls.certificate.read_bytes()
    key_pairs.load_pair(context, both, both)


def test_what_is_no_pair_is_refused(folder, tls) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with pytest.raises(OSError, match="key values mismatch"):
        key_pairs.load_pair(context, tls.certificate.read_bytes(), new_pair(tls)[1])
