"""The service account that Kubernetes mounts into every pod."""

from __future__ import annotations

import pathlib

from kubernetes_asyncio import config
from kubernetes_asyncio.client import Configuration
from kubernetes_asyncio.config import ConfigException

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
        except (ConfigException, OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"no service account to use: {error}") from error

    return read


def _read(folder: pathlib.Path) -> Login:
    files = FilesRead()
    token, ca = folder / "token", folder / "ca.crt"
    files.note(token)
    found = _configuration(token, ca)
    host = found.host or ""
    tls = Tls(ca=files.read(ca))
    tls.context()
    return Login(
        host=host,
        tls=tls,
        proxy=environment_proxy(host),
        authorization=header_value(found.api_key["BearerToken"]),
        files=files,
    )


def _configuration(token: pathlib.Path, ca: pathlib.Path) -> Configuration:
    # The class hands out copies of a process-wide default when called; ours stands alone.
    configuration: Configuration = type.__call__(Configuration)
    config.load_incluster_config(  # type: ignore[no-untyped-call]  # the library leaves it
        client_configuration=configuration,
        try_refresh_token=False,
        token_filename=str(token),
        cert_filename=str(ca),
    )
    return configuration


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
