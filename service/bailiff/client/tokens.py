"""Who asks: the bearer token of the next attempt."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bailiff.client.errors import Failure, UnauthenticatedError

if TYPE_CHECKING:
    from os import stat_result

    from bailiff.client.settings import ClientSettings

# A token of a service account has about 1 kB.
_MAX_BYTES = 16 * 1024


class TokenFile:
    """A token in a file that others write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._token = ""

    def __call__(self) -> str:
        """The token as the file has it now.

        Raises:
            OSError: the file cannot be read.
            ValueError: it holds no text.
        """
        seen = _stamp(self._path.stat())
        if seen != self._seen:
            with self._path.open("rb") as file:
                # No more: one that never ends is too long as well.
                self._token = file.read(_MAX_BYTES + 1).decode().strip()
            self._seen = seen
        return self._token


class Bearer:
    """Makes the header of a call, each time anew."""

    def __init__(self, settings: ClientSettings, *, host: str, secure: bool) -> None:
        """Check that the token is not sent in the clear.

        Args:
            settings: of the client.
            host: of the server.
            secure: whether the way there is encrypted.

        Raises:
            ValueError: the token would be read by others on the way.
        """
        self._sent = ""
        self._source = settings.token
        if settings.token_file is not None:
            self._source = TokenFile(Path(settings.token_file))
        exposed = not (secure or settings.token_in_clear or is_this_machine(host))
        if self._source is not None and exposed:
            raise ValueError("a token goes to another machine by TLS only, unless token_in_clear")

    def headers(self) -> dict[str, str]:
        """`authorization`, or nothing where nobody is to be told.

        Raises:
            UnauthenticatedError: there is no token.
        """
        if self._source is None:
            return {}
        self._sent = self._token()
        return {"authorization": f"Bearer {self._sent}"}

    def renewed(self) -> bool:
        """Whether the token is another one than was sent last."""
        return callable(self._source) and self._token() != self._sent

    def _token(self) -> str:
        source = self._source
        try:
            return _checked(source() if callable(source) else source or "")
        except (OSError, ValueError) as error:
            raise UnauthenticatedError(Failure("no_token", str(error))) from error


def is_this_machine(host: str) -> bool:
    """Whether what is sent there stays here: `localhost`, or an address that says so itself."""
    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(target: str) -> str:
    """The host of `HOST:PORT`, `[::1]:9090` or a gRPC target such as `dns:///HOST:PORT`.

    Raises:
        ValueError: it has none, or no port. Without one gRPC would take 443.
    """
    named = target.removeprefix("dns:")
    address = named if named == target else named.rpartition("/")[2]
    parts = urlsplit(f"//{address}")
    if parts.netloc != address or "@" in address or not parts.hostname or not parts.port:
        raise ValueError("HOST:PORT")
    return parts.hostname


def _stamp(status: stat_result) -> tuple[int, int, int]:
    return status.st_mtime_ns, status.st_size, status.st_ino


def _checked(token: str) -> str:
    if not isinstance(token, str):
        raise ValueError(f"no token: a text is wanted, not {type(token).__name__}")  # noqa: TRY004 - of what a call finds
    if not token or len(token) > _MAX_BYTES or not token.isascii() or not token.isprintable():
        raise ValueError("no token: empty, too long, or with characters that no header can have")
    return token
