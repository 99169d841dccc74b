"""How a certificate and its private key get from memory into Python's TLS."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

_IS_LINUX = sys.platform == "linux"
# Where an open file has a path though it has no name.
_DESCRIPTORS = "/proc/self/fd" if _IS_LINUX else "/dev/fd"


def load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Have a context prove by this pair who it is.

    Args:
        context: not in use yet: what fails leaves it with half of the pair.
        certificate: in PEM, with its chain.
        key: the private key of `certificate`, in PEM.

    Raises:
        OSError, ValueError: one is no PEM, the key is encrypted, or they are no pair.
    """
    with ExitStack() as files:
        paths = [files.enter_context(_nameless(content)) for content in (certificate, key)]
        # An encrypted key is refused: OpenSSL would ask the terminal for its password.
        context.load_cert_chain(paths[0], paths[1], password="")


@contextmanager
def _nameless(content: bytes) -> Iterator[str]:
    """A path to what stands in no folder, because Python loads a pair from files only.

    However the process ends, no key is left behind. On Linux it is in memory: the key gets to no
    disk, and none need be writable, as in a container with a read-only file system.
    """
    with _opened() as file:
        file.write(content)
        # Elsewhere than on Linux who opens the path reads on from here.
        file.seek(0)
        yield f"{_DESCRIPTORS}/{file.fileno()}"


def _opened() -> IO[bytes]:
    if _IS_LINUX:
        return os.fdopen(os.memfd_create("bailiff"), "w+b")
    # Has no name from the moment that it is there.
    return tempfile.TemporaryFile()
