"""Logging in as a kubeconfig says.

kubernetes_asyncio reads and merges the files and knows tokens, token files, passwords and OIDC.
Certificates are read here, by content, because it would write each that stands in the kubeconfig
itself into a file that stays until the process ends; exec plugins are run in `exec_plugin`.
"""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import yaml
from kubernetes_asyncio.client import Configuration
from kubernetes_asyncio.config import ConfigException
from kubernetes_asyncio.config.kube_config import (
    ConfigNode,
    KubeConfigLoader,
    KubeConfigMerger,
)

from bailiff.cluster.errors import ConfigError
from bailiff.cluster.exec_plugin import Credential, exec_plugin
from bailiff.cluster.login import FilesRead, Login, Read, header_value
from bailiff.cluster.proxies import checked_proxy, environment_proxy
from bailiff.cluster.tls import Tls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# What wrong types in a kubeconfig surface as in kubernetes_asyncio.
_WRONG = (AttributeError, AssertionError, KeyError, TypeError, ValueError)
# Any of these in a user's section and its exec plugin is not run (client-go
# plugin/pkg/client/auth/exec, UpdateTransportConfig).
_INSTEAD_OF_EXEC = (
    "token", "tokenFile", "username", "client-certificate", "client-certificate-data",
)  # fmt: skip
_EXEC_EXTENSION = "client.authentication.k8s.io/exec"


def usual_kubeconfig() -> str:
    """$KUBECONFIG, which may name several files, or the file in the home directory.

    Asked for at each reading: kubernetes_asyncio keeps what it saw when it was imported.
    """
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
        except (ConfigException, OSError, aiohttp.ClientError, *_WRONG) as error:
            raise ConfigError(f"kubeconfig {file}: {_without_values(error)}") from None

    return read


@dataclass(frozen=True, slots=True)
class _Section:
    """One context of the merged files, with the cluster and the user that it names."""

    context: str
    cluster: ConfigNode
    user: ConfigNode
    files: FilesRead
    save: Callable[[], None]

    @classmethod
    def of(cls, file: str, context: str | None) -> _Section:
        files = FilesRead()
        paths = [Path(each).expanduser() for each in file.split(os.pathsep) if each]
        if not any(path.exists() for path in paths):
            raise ConfigError("there is no such file")
        for each in paths:
            files.note(each)
        merger = KubeConfigMerger(file)
        merged: Any = merger.config
        name = str(context or merged["current-context"])
        own = merged["contexts"].get_with_name(name)["context"]
        cluster = merged["clusters"].get_with_name(own["cluster"])["cluster"]
        return cls(name, cluster, _user(merged, own), files, merger.save_changes)

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
        host = _text(self.cluster, "server")
        if not host:
            raise ConfigError("the cluster has no server")
        return host.rstrip("/")

    def _proxy(self, host: str) -> str | None:
        own = _text(self.cluster, "proxy-url")
        return checked_proxy(own, "proxy-url") if own else environment_proxy(host)

    def _trust(self) -> Tls:
        unchecked = self.cluster.safe_get("insecure-skip-tls-verify") or False
        if not isinstance(unchecked, bool):
            raise ConfigError("insecure-skip-tls-verify is neither true nor false")
        return Tls(
            ca=self._pem(self.cluster, "certificate-authority"),
            verify=not unchecked,
            server_name=_text(self.cluster, "tls-server-name"),
        )

    def _with_pair(self, trust: Tls, given: Credential) -> Tls:
        certificate, key = given.certificate, given.key
        if certificate is None:
            certificate = self._pem(self.user, "client-certificate")
            key = self._pem(self.user, "client-key")
        return Tls(trust.ca, certificate, key, trust.verify, trust.server_name)

    def _pem(self, node: ConfigNode, key: str) -> bytes | None:
        data, file = _text(node, f"{key}-data"), _text(node, key)
        if data:
            return base64.b64decode(data)
        return self.files.read(_folder(node) / file) if file else None

    async def _from_plugin(self, host: str, trust: Tls, proxy: str | None) -> Credential:
        section = self.user.value.get("exec")
        if section is None:
            return Credential()
        plugin = exec_plugin(section)
        if any(self.user.value.get(key) for key in _INSTEAD_OF_EXEC):
            return Credential()
        return await plugin.run(self._told(host, trust, proxy), _folder(self.user))

    def _told(self, host: str, trust: Tls, proxy: str | None) -> dict[str, Any]:
        """The cluster as client-go tells it to exec plugins (rest/exec.go)."""
        told = {
            "server": host,
            "tls-server-name": trust.server_name,
            "insecure-skip-tls-verify": not trust.verify,
            "certificate-authority-data": trust.ca,
            "proxy-url": proxy,
            "disable-compression": self.cluster.safe_get("disable-compression"),
        }
        config = _extension(self.cluster.value.get("extensions") or ())
        return {key: value for key, value in told.items() if value} | {"config": config}

    async def _other(self) -> str | None:
        """The Authorization header from what is no plugin: kubernetes_asyncio knows how."""
        if "tokenFile" in self.user:
            self.files.note(_folder(self.user) / str(self.user["tokenFile"]))
        # The class hands out copies of a process-wide default when called; ours stands alone.
        configuration: Configuration = type.__call__(Configuration)
        loader = KubeConfigLoader(
            _only_user({key: own for key, own in self.user.value.items() if key != "exec"}),
            config_base_path=str(_folder(self.user)),
            config_persister=self.save,
        )
        await loader.load_and_set(configuration)
        return configuration.api_key.get("BearerToken")


def _user(merged: ConfigNode, context: ConfigNode) -> ConfigNode:
    name = context.safe_get("user")
    if not name:
        return ConfigNode("nobody", {}, "")
    found = merged["users"].get_with_name(name, safe=True)
    if found is None:
        raise ConfigError("there is no user of the name that the context says")
    own: ConfigNode = found["user"]
    return own


def _only_user(user: dict[str, Any]) -> dict[str, Any]:
    """A kubeconfig for this user and for a server without TLS, so that no certificate is read."""
    return {
        "current-context": "own",
        "contexts": [{"name": "own", "context": {"cluster": "own", "user": "own"}}],
        "clusters": [{"name": "own", "cluster": {"server": "http://localhost"}}],
        "users": [{"name": "own", "user": user}],
    }


def _text(node: ConfigNode, key: str) -> str | None:
    value = node.safe_get(key)
    if value is not None and not isinstance(value, str):
        raise ConfigError(f"{key} is not a text")
    return value


def _folder(node: ConfigNode) -> Path:
    """Of the file that this part stands in: what relative names are meant from."""
    return Path(node.path or "").absolute().parent


def _extension(extensions: Iterable[dict[str, object]]) -> object:
    named = (each.get("extension") for each in extensions if each.get("name") == _EXEC_EXTENSION)
    return next(named, None)


def _without_values(error: Exception) -> str:
    # kubernetes_asyncio names the place of a fault by the whole entry, credentials included.
    text = str(error) or type(error).__name__
    return text.split("{", 1)[0].strip() or type(error).__name__
