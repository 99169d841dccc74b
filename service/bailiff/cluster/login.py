"""What one reading of a kubeconfig, a service account or an exec plugin gives."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from bailiff.cluster.errors import ConfigError
from bailiff.cluster.tls import Tls
from bailiff.file_watch import read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

# The largest file read, in bytes: a bundle of all the world's authorities has 0.3 MiB.
_MAX_FILE_BYTES = 4 * 2**20

_State: TypeAlias = tuple[int, int, int, int]


class FilesRead:
    """The files that a login comes from, each in the state that it was in before it was read.

    So a change while it is read is seen as a change, later.
    """

    def __init__(self) -> None:
        self._states: dict[Path, _State | None] = {}

    def note(self, path: Path) -> None:
        """Remember a file that somebody else is about to read.

        Raises:
            ConfigError: it is larger than 4 MiB.
        """
        state = _state(path)
        if state is not None and state[0] > _MAX_FILE_BYTES:
            raise ConfigError(f"{path} has more than {_MAX_FILE_BYTES} bytes")
        self._states[path] = state

    def read(self, path: Path) -> bytes:
        """Remember a file and give its content.

        Raises:
            ConfigError: it is larger than 4 MiB.
            OSError: it cannot be read, or is not a regular file: nobody need write to a FIFO.
        """
        self.note(path)
        return read_regular(path, _MAX_FILE_BYTES)

    def changed(self) -> bool:
        """Whether one was written, replaced or removed since; looks at no content."""
        return any(_state(path) != state for path, state in self._states.items())


def _state(path: Path) -> _State | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev)


@dataclass(frozen=True, slots=True)
class Login:
    """Where the API server is, how to reach it, and what proves who we are.

    Attributes:
        host: https://HOST[:PORT][/PATH], without a slash in the end.
        tls: what connections depend on; a change of it needs new ones.
        proxy: URL of the proxy to go by, a password included, or None.
        authorization: value of the Authorization header; None with client certificates alone.
        expires_at: when the login says it ends, or None.
        files: what it was read from.
    """

    host: str
    tls: Tls = field(default_factory=Tls)
    proxy: str | None = field(default=None, repr=False)
    authorization: str | None = field(default=None, repr=False)
    expires_at: datetime | None = None
    files: FilesRead = field(default_factory=FilesRead, repr=False)

    def dangers(self) -> Iterator[str]:
        """What makes a login useful to others than the API server; there may be several."""
        server = urlsplit(self.host)
        if server.scheme == "https":
            if not self.tls.verify:
                yield (
                    f"the certificate of {self.host!r} is not checked (insecure-skip-tls-verify): "
                    "whoever is on the way can read the login, and answer in its place"
                )
        elif self.authorization is not None and not _is_here(server.hostname or ""):
            yield (
                f"the token or password goes to {self.host!r} without TLS: whoever is on the way "
                "can read it"
            )

    def proves_the_same(self, other: Login) -> bool:
        """Whether a server that refuses the one will refuse the other."""
        return (self.authorization, self.tls, self.proxy) == (
            other.authorization,
            other.tls,
            other.proxy,
        )


def _is_here(host: str) -> bool:
    """Whether it is this machine, as far as that is known without asking anybody."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


Read: TypeAlias = Callable[[], Awaitable[Login]]


def header_value(authorization: str) -> str:
    """An Authorization header as a file or a program gives it: these often end in a newline.

    Raises:
        ConfigError: it holds what no header may hold.
    """
    value = authorization.strip()
    if not (value.isascii() and value.isprintable()):
        raise ConfigError("the token holds characters that no HTTP header may hold")
    return value
