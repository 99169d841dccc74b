"""What is made of certificates and keys."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives import serialization

from tests.harness.kube.tls import make_tls

if TYPE_CHECKING:
    from pathlib import Path

# In a process of its own, because OpenSSL asks the terminal that a process belongs to.
SCRIPT = """
import fcntl, pathlib, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from bailiff.cluster.errors import ConfigError
from bailiff.cluster.tls import Tls
certificate, key = (pathlib.Path(each).read_bytes() for each in sys.argv[1:])
try:
    Tls(certificate=certificate, key=key).context()
except ConfigError:
    print("refused")
"""


def test_a_key_with_a_passphrase_is_refused_and_no_terminal_is_asked(tmp_path: Path) -> None:
    tls = make_tls(tmp_path)
    key = serialization.load_pem_private_key(tls.key.read_bytes(), None)
    secret = serialization.BestAvailableEncryption(b"secret")
    tls.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret)
    )
    terminal, other_end = pty.openpty()
    # Somebody who sits there and knows the passphrase: asked, OpenSSL would take it.
    os.write(terminal, b"secret\n")
    try:
        said = subprocess.run(
            [sys.executable, "-c", SCRIPT, tls.certificate, tls.key],
            stdin=other_end, capture_output=True, check=True, timeout=60, start_new_session=True,
        )  # fmt: skip
    finally:
        os.close(terminal)
        os.close(other_end)
    assert said.stdout == b"refused\n"
    assert said.stderr == b""
