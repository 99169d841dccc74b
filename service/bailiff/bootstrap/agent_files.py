"""What the options of `bailiff agent` come to, files among them."""

from __future__ import annotations

from ipaddress import IPv6Address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bailiff.agent.settings import KubeletAccess
from bailiff.bootstrap.pressure_files import configuration_in, extensions_in, read_file
from bailiff.decisions.pressure.extensions import NO_EXTENSIONS
from bailiff.decisions.pressure.facts import LAYOUTS

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.decisions.pressure.extensions import PressureExtensions
    from bailiff.decisions.pressure.facts import FileSystemLayout
    from bailiff.kinds.kubelet_configuration import KubeletConfiguration


def configuration_of(option: str, path: Path | None) -> KubeletConfiguration | None:
    """The thresholds in a file.

    Raises:
        ValueError: names the option, the file, and all that is wrong.
    """
    return None if path is None else read_file(option, path, configuration_in)


def extensions_of(option: str, path: Path | None) -> PressureExtensions:
    """What no kubelet does, in a file; raises as `configuration_of`."""
    return NO_EXTENSIONS if path is None else read_file(option, path, extensions_in)


def layout_called(option: str, name: str) -> FileSystemLayout | None:
    """A layout by the name that operators give it.

    Raises:
        ValueError: there is none of that name.
    """
    if name and name not in LAYOUTS:
        raise ValueError(f"{option}: must be one of {', '.join(LAYOUTS)}, got {name[:64]!r}")
    return LAYOUTS.get(name)


def _with_brackets(url: str) -> str:
    """An IPv6 address in brackets, which Kubernetes' `status.hostIP` has not; a port ends it."""
    scheme, _, rest = url.partition("//")
    host, _, port = rest.rpartition(":")
    try:
        return f"{scheme}//[{IPv6Address(host)}]:{port}"
    except ValueError:
        return url


def kubelet_access(
    url: str | None,
    *,
    ca_file: Path | None,
    server_name: str,
    insecure: bool,
    token_file: Path | None,
    certificate_file: Path | None,
    key_file: Path | None,
) -> KubeletAccess | None:
    """How the kubelet is asked; None where it is not.

    Raises:
        ValueError: the address is none, or options about it are given without one.
    """
    files = (ca_file, token_file, certificate_file, key_file)
    if url is None:
        if any(files) or server_name or insecure:
            raise ValueError("options of the kubelet need --kubelet")
        return None
    if not url.startswith(("https://", "http://127.0.0.1:", "http://localhost:", "http://[::1]:")):
        why = "must be https://HOST:PORT, or http:// on this machine"
        raise ValueError(f"--kubelet: {why}, got {url[:64]!r}")
    url = _with_brackets(url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"--kubelet: {error}") from error
    if port is None:
        raise ValueError(f"--kubelet: must be https://HOST:PORT, got {url[:64]!r}: it has no port")
    if "@" in parts.netloc:
        # Everybody on the node sees options; and who is asked takes no password.
        raise ValueError("--kubelet: must have no user and no password: see --kubelet-token-file")
    ca, token, certificate, key = ("" if one is None else str(one.absolute()) for one in files)
    return KubeletAccess(
        url=url.rstrip("/"),
        ca_file=ca,
        server_name=server_name,
        insecure=insecure,
        token_file=token,
        certificate_file=certificate,
        key_file=key,
    )
