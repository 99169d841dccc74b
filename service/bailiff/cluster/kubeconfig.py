"""Logging in as a kubeconfig says."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from bailiff.cluster.auth_provider import PROVIDERS, provider_token
from bailiff.cluster.errors import ConfigError
from bailiff.cluster.exec_plugin import Credential, exec_plugin
from bailiff.cluster.kubeconfig_files import Entry, KubeconfigFiles
from bailiff.cluster.login import FilesRead, Login, Read, header_value
from bailiff.cluster.proxies import checked_proxy, environment_proxy
from bailiff.cluster.tls import Tls

if TYPE_CHECKING:
    from collections.abc import Iterable

# What wrong types in a kubeconfig surface as.
_WRONG = (AttributeError, AssertionError, KeyError, TypeError, ValueError)
# Any of these in a user's section and its exec plugin is not run (client-go
# plugin/pkg/client/auth/exec, UpdateTransportConfig).
_INSTEAD_OF_EXEC = (
    "token", "tokenFile", "username", "client-certificate", "client-certificate-data",
)  # fmt: skip
_EXEC_EXTENSION = "client.authentication.k8s.io/exec"


def usual_kubeconfig() -> str:
    """$KUBECONFIG, which may name several files, or the file in the home directory."""
    return os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")


def kubeconfig_reader(path: Path | None, context: str | None) -> Read:
    """A reader of one context of a kubeconfig.

    Args:
        path: the file; None is the usual one.
        context: its name; None is the file's own choice when it is first read. A later
            `kubectl config use-context` is for others.
    """
    chosen = context

    async def read() -> Login:
        nonlocal chosen
        file = str(path or usual_kubeconfig())
        try:
            section = _Section.of(file, chosen)
            chosen = section.context
            return await section.login()
        except ConfigError as error:
            raise ConfigError(f"kubeconfig {file}: {error}") from None
        except yaml.YAMLError:
            # Neither its text nor its cause is kept, here and below: they may quote the file.
            raise ConfigError(f"kubeconfig {file} is not YAML") from None
        except OSError as error:
            raise ConfigError(f"kubeconfig {file}: {str(error) or type(error).__name__}") from None
        except _WRONG as error:
            raise ConfigError(f"kubeconfig {file}: {_without_values(error)}") from None

    return read


def kubeconfig_namespace(path: Path | None, context: str | None) -> str:
    """The namespace of a context, as kubectl takes it; empty where the context names none.

    Args as `kubeconfig_reader`.

    Raises:
        ConfigError: the kubeconfig cannot be used.
    """
    file = str(path or usual_kubeconfig())
    try:
        merged = KubeconfigFiles(file, FilesRead())
        return merged.context(context or merged.current_context).text("namespace") or ""
    except ConfigError as error:
        raise ConfigError(f"kubeconfig {file}: {error}") from None
    except (OSError, yaml.YAMLError, *_WRONG):
        raise ConfigError(f"kubeconfig {file} cannot be read") from None


@dataclass(frozen=True, slots=True)
class _Section:
    """One context of the merged files, with the cluster and the user that it names."""

    context: str
    cluster: Entry
    user: Entry
    user_name: str
    file: str
    files: FilesRead

    @classmethod
    def of(cls, file: str, context: str | None) -> _Section:
        files = FilesRead()
        merged = KubeconfigFiles(file, files)
        name = context or merged.current_context
        own = merged.context(name)
        user = own.text("user") or ""
        # A context may name no user: the server is asked as nobody.
        entry = merged.user(user) if user else Entry({}, own.folder)
        return cls(name, merged.cluster(own.text("cluster")), entry, user, file, files)

    async def login(self) -> Login:
        """What this section gives; raises whatever is wrong with it."""
        host, trust = self._host(), self._trust()
        proxy = self._proxy(host)
        given = await self._from_plugin(host, trust, proxy)
        tls = self._with_pair(trust, given)
        if host.startswith("https:"):
            tls.context()
        authorization = f"Bearer {given.token}" if given.token else await self._other()
        return Login(
            host=host,
            tls=tls,
            proxy=proxy,
            authorization=header_value(authorization) if authorization else None,
            expires_at=given.expires_at,
            files=self.files,
        )

    def _host(self) -> str:
        host = self.cluster.text("server")
        if not host:
            raise ConfigError("the cluster has no server")
        return host.rstrip("/")

    def _proxy(self, host: str) -> str | None:
        own = self.cluster.text("proxy-url")
        return checked_proxy(own, "proxy-url") if own else environment_proxy(host)

    def _trust(self) -> Tls:
        return Tls(
            ca=self._pem(self.cluster, "certificate-authority"),
            verify=not self.cluster.flag("insecure-skip-tls-verify"),
            server_name=self.cluster.text("tls-server-name"),
        )

    def _with_pair(self, trust: Tls, given: Credential) -> Tls:
        certificate, key = given.certificate, given.key
        if certificate is None:
            certificate = self._pem(self.user, "client-certificate")
            key = self._pem(self.user, "client-key")
        return Tls(trust.ca, certificate, key, trust.verify, trust.server_name)

    def _pem(self, entry: Entry, key: str) -> bytes | None:
        # By content: what stands in the kubeconfig itself is never written into a file.
        data, file = entry.text(f"{key}-data"), entry.text(key)
        if data:
            return _decoded(data, key)
        return self.files.read(entry.folder / file) if file else None

    async def _from_plugin(self, host: str, trust: Tls, proxy: str | None) -> Credential:
        section = self.user.value.get("exec")
        if section is None:
            return Credential()
        plugin = exec_plugin(section)
        if any(self.user.value.get(key) for key in _INSTEAD_OF_EXEC):
            return Credential()
        return await plugin.run(self._told(host, trust, proxy), self.user.folder)

    def _told(self, host: str, trust: Tls, proxy: str | None) -> dict[str, Any]:
        """The cluster as client-go tells it to exec plugins (rest/exec.go)."""
        told = {
            "server": host,
            "tls-server-name": trust.server_name,
            "insecure-skip-tls-verify": not trust.verify,
            "certificate-authority-data": trust.ca,
            "proxy-url": proxy,
            "disable-compression": self.cluster.value.get("disable-compression"),
        }
        config = _extension(self.cluster.value.get("extensions") or ())
        return {key: value for key, value in told.items() if value} | {"config": config}

    async def _other(self) -> str | None:
        """The Authorization header from what is no plugin."""
        provider = self.user.value.get("auth-provider") or {}
        if provider.get("name") in PROVIDERS:
            return await provider_token(self.file, self.user_name)
        return self._token() or self._password()

    def _token(self) -> str | None:
        # Where both stand there the file counts (client-go transport/token_source.go).
        file, token = self.user.text("tokenFile"), self.user.text("token")
        if file:
            token = self.files.read(self.user.folder / file).decode().strip()
        return f"Bearer {token}" if token else None

    def _password(self) -> str | None:
        name, password = self.user.text("username"), self.user.text("password")
        if name is None or password is None:
            return None
        return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def _decoded(data: str, key: str) -> bytes:
    try:
        return base64.b64decode(data)
    except ValueError:
        raise ConfigError(f"{key}-data is not base64") from None


def _extension(extensions: Iterable[dict[str, object]]) -> object:
    named = (each.get("extension") for each in extensions if each.get("name") == _EXEC_EXTENSION)
    return next(named, None)


def _without_values(error: Exception) -> str:
    # A KeyError or a ValueError may name a part of an entry, credentials included.
    return f"it has entries that cannot be used ({type(error).__name__})"
