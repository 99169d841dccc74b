"""The service account that Kubernetes mounts into every pod."""

from __future__ import annotations

import os
import pathlib

from bailiff.cluster.errors import ConfigError
from bailiff.cluster.login import FilesRead, Login, Read, header_value
from bailiff.cluster.proxies import environment_proxy
from bailiff.cluster.tls import Tls

# Where Kubernetes mounts it.
SERVICE_ACCOUNT = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount")


def in_cluster_reader(folder: pathlib.Path = SERVICE_ACCOUNT) -> Read:
    """A reader of the pod's service account: its token and the CA of the API server.

    It raises ConfigError outside of a pod, or where the files are missing or of no use.
    """

    async def read() -> Login:
        try:
            return _read(folder)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"no service account to use: {error}") from error

    return read


def _read(folder: pathlib.Path) -> Login:
    files, host = FilesRead(), _host()
    token = files.read(folder / "token").decode()
    if not token:
        raise ConfigError(f"no service account to use: {folder / 'token'} is empty")
    tls = Tls(ca=_certificates(files, folder / "ca.crt"))
    tls.context()
    return Login(
        host=host,
        tls=tls,
        proxy=environment_proxy(host),
        authorization=header_value(f"Bearer {token}"),
        files=files,
    )


def _host() -> str:
    """As the kubelet tells every container (client-go rest/config.go, InClusterConfig)."""
    host = os.environ.get("KUBERNETES_SERVICE_HOST")
    port = os.environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise ConfigError("no service account to use: this does not run in a pod")
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def _certificates(files: FilesRead, path: pathlib.Path) -> bytes:
    found = files.read(path)
    if not found:
        # Without any, those of the system would be trusted.
        raise ConfigError(f"no service account to use: {path} is empty")
    return found


def service_account_namespace(folder: pathlib.Path = SERVICE_ACCOUNT) -> str:
    """The namespace of the pod that this runs in.

    Raises:
        ConfigError: outside of a pod, or the file is empty.
    """
    try:
        namespace = FilesRead().read(folder / "namespace").decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the pod's namespace is not known: {error}") from error
    if not namespace:
        raise ConfigError(f"the pod's namespace is not known: {folder / 'namespace'} is empty")
    return namespace
