"""Who we are to the API server, and how that is renewed.

kubernetes_asyncio knows the ways to log in: kubeconfig with certificates, tokens, token files,
exec plugins and OIDC, and the service account of a pod. It reads them once, so renewal is
simply to let it read again: every minute where a file may change under us, in time where a
login says when it expires, and once when the server answers 401.
"""

from __future__ import annotations

import asyncio
import os
import pathlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml
from kubernetes_asyncio import config
from kubernetes_asyncio.client import Configuration
from kubernetes_asyncio.config import ConfigException

from bailiff.cluster.errors import ConfigError

if TYPE_CHECKING:
    from datetime import datetime

    from kubernetes_asyncio.config.kube_config import KubeConfigLoader

    from bailiff.clock import Clock

# Seconds. A service account token is replaced at 80 % of its life, an hour and more; client-go
# reads the file again every minute too (client-go transport/token_source.go).
_FILE_PERIOD = 60.0
# Renew this many seconds before an announced expiry, so that no request is sent with a token
# that dies on the way; half of what is left when that is less.
_EXPIRY_MARGIN = 60.0
# Shortest time between two renewals that change nothing: a login that the server rejects must
# not start its plugin for every request.
_MIN_PERIOD = 5.0


@dataclass(frozen=True, slots=True)
class Login:
    """What one reading of the configuration gave.

    Attributes:
        configuration: kubernetes_asyncio's, with host, TLS files, proxy and token.
        expires_at: when the login says it ends, or None.
        from_file: True if the token comes from a file that somebody rotates.
    """

    configuration: Configuration
    expires_at: datetime | None = None
    from_file: bool = False

    @property
    def authorization(self) -> str | None:
        """The value of the Authorization header; None with client certificates alone."""
        token = self.configuration.api_key.get("BearerToken")
        # Token files often end in a newline, which no header may hold.
        return token.strip() if token else None

    @property
    def tls(self) -> tuple[Any, ...]:
        """What a connection depends on; a change of it needs new connections."""
        own = self.configuration
        return (own.host, own.ssl_ca_cert, own.cert_file, own.key_file, own.verify_ssl, own.proxy)

    def __repr__(self) -> str:
        return f"Login(host={self.configuration.host!r}, expires_at={self.expires_at})"


Read: TypeAlias = Callable[[], Awaitable[Login]]


# Where Kubernetes mounts the service account into every pod.
SERVICE_ACCOUNT = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount")


def in_cluster_reader(folder: pathlib.Path = SERVICE_ACCOUNT) -> Read:
    """A reader of the pod's service account.

    It raises ConfigError outside of a pod, or where the files are missing or empty.
    """

    async def read() -> Login:
        configuration = _fresh()
        try:
            config.load_incluster_config(  # type: ignore[no-untyped-call]  # the library leaves it
                client_configuration=configuration,
                try_refresh_token=False,
                token_filename=str(folder / "token"),
                cert_filename=str(folder / "ca.crt"),
            )
        except (ConfigException, OSError) as error:
            raise ConfigError(f"no service account to use: {error}") from error
        return Login(configuration, from_file=True)

    return read


def service_account_namespace(folder: pathlib.Path = SERVICE_ACCOUNT) -> str:
    """The namespace of the pod that this runs in.

    Raises:
        ConfigError: outside of a pod, or the file is empty.
    """
    try:
        namespace = (folder / "namespace").read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the pod's namespace is not known: {error}") from error
    if not namespace:
        raise ConfigError(f"the pod's namespace is not known: {folder / 'namespace'} is empty")
    return namespace


def kubeconfig_reader(path: pathlib.Path | None, context: str | None) -> Read:
    """A reader of one context of a kubeconfig; None means the usual file and its own choice."""

    async def read() -> Login:
        configuration = _fresh()
        file = str(path or usual_kubeconfig())
        if not any(map(os.path.exists, file.split(os.pathsep))):
            raise ConfigError(f"kubeconfig {file}: there is no such file")
        # Wrong types in a kubeconfig surface as the first four.
        wrong = (AttributeError, AssertionError, KeyError, TypeError, ValueError)
        try:
            loader = await config.load_kube_config(
                config_file=file,
                context=context,
                client_configuration=configuration,
            )
        except yaml.YAMLError:
            # Neither its text nor its cause is kept, here and below: they may quote the file.
            raise ConfigError(f"kubeconfig {file} is not YAML") from None
        except (ConfigException, OSError, *wrong) as error:
            raise ConfigError(f"kubeconfig {file}: {_without_values(error)}") from None
        return Login(configuration, _expiry(loader), _uses_token_file(loader))

    return read


def usual_kubeconfig() -> str:
    """$KUBECONFIG, which may name several files, or the file in the home directory.

    Asked for at each reading: kubernetes_asyncio keeps what it saw when it was imported.
    """
    return os.environ.get("KUBECONFIG") or str(pathlib.Path.home() / ".kube" / "config")


class Credentials:
    """The present login, renewed when it is due.

    Used by one event loop; concurrent renewals wait for one another.
    """

    def __init__(self, read: Read, clock: Clock, login_timeout: float) -> None:
        self._read = read
        self._clock = clock
        self._timeout = login_timeout
        self._lock = asyncio.Lock()
        self._login: Login | None = None
        self._fruitless_at = float("-inf")
        self._due_at = float("inf")

    async def current(self) -> Login:
        """The login to use for the next request.

        A renewal that fails leaves the present one in use: the server is the judge of it.

        Raises:
            ConfigError: there never was a usable one.
        """
        login = self._login
        if login is not None and self._clock.monotonic() < self._due_at:
            return login
        async with self._lock:
            if self._login is None:
                return await self._renew()
            if self._clock.monotonic() >= self._due_at:
                await self._renew_or_keep()
            return self._login

    async def after_rejection(self, rejected: Login) -> Login | None:
        """A login that differs from the one that the server answered 401 to, or None."""
        async with self._lock:
            lately = self._clock.monotonic() - self._fruitless_at < _MIN_PERIOD
            if self._login is rejected and not lately:
                await self._renew_or_keep()
            if self._login is rejected:
                self._fruitless_at = self._clock.monotonic()
                return None
            return self._login

    async def _renew_or_keep(self) -> None:
        try:
            await self._renew()
        except ConfigError:
            self._due_at = self._clock.monotonic() + _MIN_PERIOD

    async def _renew(self) -> Login:
        try:
            async with asyncio.timeout(self._timeout):
                login = await self._read()
        except TimeoutError as error:
            raise ConfigError(f"no credentials after {self._timeout:g} s") from error
        self._due_at = self._clock.monotonic() + self._lifetime(login)
        if self._login is None or _differs(self._login, login):
            self._login = login
        return self._login

    def _lifetime(self, login: Login) -> float:
        if login.expires_at is not None:
            left = (login.expires_at - self._clock.now()).total_seconds()
            return max(left - min(_EXPIRY_MARGIN, left / 2), _MIN_PERIOD)
        return _FILE_PERIOD if login.from_file else float("inf")


def _differs(one: Login, other: Login) -> bool:
    return one.authorization != other.authorization or one.tls != other.tls


def _fresh() -> Configuration:
    # The class hands out copies of a process-wide default when called; ours stand alone.
    configuration: Configuration = type.__call__(Configuration)
    return configuration


def _expiry(loader: KubeConfigLoader) -> datetime | None:
    # Set by kubernetes_asyncio only if an exec plugin said so.
    return getattr(loader, "exec_plugin_expiry", None)


def _uses_token_file(loader: KubeConfigLoader) -> bool:
    # It offers no public way to see which user it chose.
    user = loader._user  # noqa: SLF001 - see above
    return user is not None and "tokenFile" in user and "token" not in user


def _without_values(error: Exception) -> str:
    # kubernetes_asyncio names the place of a fault by the whole entry, credentials included.
    text = str(error) or type(error).__name__
    return text.split("{", 1)[0].strip() or type(error).__name__
