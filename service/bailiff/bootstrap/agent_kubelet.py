"""The kubelet of an agent's node: what it is shown, and who vouches for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bailiff.agent.api.wire import LeanWire
from bailiff.agent.kubelet import Kubelet
from bailiff.cluster.credentials import Credentials
from bailiff.cluster.errors import ConfigError
from bailiff.cluster.login import FilesRead, Login, header_value
from bailiff.cluster.tls import Tls

if TYPE_CHECKING:
    from bailiff.agent.log import Log
    from bailiff.agent.settings import AgentSettings, KubeletAccess
    from bailiff.clock import Clock
    from bailiff.cluster.client import Cluster
    from bailiff.cluster.login import Read
    from bailiff.cluster.settings import ClusterSettings


class OwnedKubelet(NamedTuple):
    """The kubelet, and the connections to it."""

    answers: Kubelet
    wire: LeanWire

    async def close(self) -> None:
        """Close the connections."""
        await self.wire.close()


async def owned_kubelet(
    settings: AgentSettings,
    cluster: Cluster | None,
    clock: Clock,
    log: Log,
    bounds: ClusterSettings,
) -> OwnedKubelet | None:
    """The kubelet, if it is to be asked; close it.

    Raises:
        ConfigError: the files that are to be shown to it cannot be used.
    """
    access = settings.kubelet
    if access is None:
        return None
    read = _kubelet_reader(access, settings.node, cluster)
    found = Credentials(read, clock, bounds.login_timeout, log)
    await found.start()
    wire = LeanWire(found, bounds)
    return OwnedKubelet(Kubelet(wire, settings.node, clock), wire)


def _kubelet_reader(access: KubeletAccess, node: str, api: Cluster | None) -> Read:
    """A reader of what is shown to the kubelet, and who vouches for it."""

    async def read() -> Login:
        try:
            return _kubelet_login(access, node, None if api is None else await api.login())
        except OSError as error:
            raise ConfigError(f"the files for the kubelet cannot be read: {error}") from error

    return read


def _kubelet_login(access: KubeletAccess, node: str, api: Login | None) -> Login:
    files = FilesRead()

    def content(path: str) -> bytes | None:
        return files.read(Path(path)) if path else None

    ca = content(access.ca_file)
    tls = Tls(
        ca=ca if ca is not None or api is None else api.tls.ca,
        certificate=content(access.certificate_file),
        key=content(access.key_file),
        verify=not access.insecure,
        server_name=access.server_name or node,
    )
    tls.context()
    token = content(access.token_file)
    authorization = None if token is None else header_value(f"Bearer {token.decode().strip()}")
    is_proven = tls.verify and access.url.startswith("https://")
    if authorization is None and tls.certificate is None and api is not None and is_proven:
        # Whoever listens at the kubelet's port without its certificate is not shown the token.
        authorization = api.authorization
    return Login(host=access.url, tls=tls, authorization=authorization, files=files)
