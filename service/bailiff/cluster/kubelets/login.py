"""What kubelets are shown, and what they have to show.

Files are looked at every minute, as those of the API server's login (`credentials`); one that
cannot be used leaves the one of before in use.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import structlog

from bailiff.cluster.credentials import Credentials
from bailiff.cluster.errors import ConfigError
from bailiff.cluster.login import FilesRead, Login, header_value
from bailiff.cluster.tls import Tls

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from bailiff.clock import Clock
    from bailiff.cluster.credentials import Warn
    from bailiff.cluster.kubelets.settings import KubeletSettings

# Seconds to read a few files.
_TIMEOUT = 30.0


log = structlog.get_logger(__name__)


def _log_danger(danger: str) -> None:
    log.warning("the login to kubelets is not safe", reason=danger)


class Shown(NamedTuple):
    """What one request goes with.

    Attributes:
        tls: whom to trust, and our certificate.
        authorization: value of the Authorization header, or None.
    """

    tls: Tls
    authorization: str | None


class _OwnLogin(Login):
    """What files say that are for kubelets alone."""

    def dangers(self) -> Iterator[str]:
        """See Login. The API server's token is not among what those can read who answer."""
        if self.tls.verify:
            return
        told = "answer in their place"
        if self.authorization is not None:
            told += ", and read the token of --kubelet-token-file"
        yield (
            "the certificates of kubelets are not checked (--kubelet-insecure-tls): whoever is on "
            f"the way can {told}"
        )


class KubeletLogin:
    """The login for all kubelets. Start it, and close it."""

    def __init__(
        self,
        api: Callable[[], Awaitable[Login]],
        settings: KubeletSettings,
        clock: Clock,
        warn: Warn | None = None,
    ) -> None:
        """Nothing is read yet.

        Args:
            api: gives the present login for the API server.
            settings: which files there are.
            clock: when files are looked at.
            warn: is told of what is dangerous; None writes it to the log.
        """
        self._api = api
        self._settings = settings
        self._own = Credentials(self._read, clock, _TIMEOUT, log, warn or _log_danger)
        self._of: tuple[Login, Login] | None = None
        self._shown = Shown(Tls(), None)

    async def start(self) -> None:
        """Read the files.

        Raises:
            ConfigError: they cannot be used, or there is nothing that may be shown to a kubelet
                whose certificate is not checked.
        """
        await self._own.start()
        try:
            await self.current()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Look at files no more."""
        await self._own.close()

    async def current(self) -> Shown:
        """What the next request goes with.

        Raises:
            ConfigError: as `start`.
            UnreachableError: closed.
        """
        own, api = await self._own.current(), await self._api()
        # Put together once, so that it is the same object as long as nothing changes.
        if self._of is None or self._of[0] is not own or self._of[1] is not api:
            self._shown = _shown(own, api)
            self._of = (own, api)
        return self._shown

    async def _read(self) -> Login:
        try:
            return _login(self._settings)
        except OSError as error:
            raise ConfigError(f"the files for kubelets cannot be read: {error}") from error


def _login(settings: KubeletSettings) -> Login:
    files = FilesRead()
    tls = Tls(
        ca=_content(files, settings.ca_file),
        certificate=_content(files, settings.certificate_file),
        key=_content(files, settings.key_file),
        verify=not settings.insecure,
    )
    tls.context()
    token = _content(files, settings.token_file)
    return _OwnLogin(
        host="https://kubelets",
        tls=tls,
        authorization=None if token is None else _bearer(token),
        files=files,
    )


def _content(files: FilesRead, path: Path | None) -> bytes | None:
    if path is None:
        return None
    found = files.read(path)
    if not found.strip():
        # Without any certificate those of the system would be trusted.
        raise ConfigError(f"{path} is empty")
    return found


def _bearer(token: bytes) -> str:
    try:
        return header_value(f"Bearer {token.decode().strip()}")
    except UnicodeDecodeError as error:
        raise ConfigError("token_file: holds what no HTTP header may hold") from error


def _shown(own: Login, api: Login) -> Shown:
    tls = own.tls if own.tls.ca is not None else replace(own.tls, ca=api.tls.ca)
    if own.authorization is not None or tls.certificate is not None:
        return Shown(tls, own.authorization)
    tls = replace(tls, certificate=api.tls.certificate, key=api.tls.key)
    if tls.verify:
        return Shown(tls, api.authorization)
    if tls.certificate is None:
        raise ConfigError(
            "--kubelet-insecure-tls: where the certificates of kubelets are not checked, whoever "
            "answers sees the token, so that for the API server is not shown: name another by "
            "--kubelet-token-file, or a certificate by --kubelet-client-certificate"
        )
    return Shown(tls, None)
