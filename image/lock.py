"""What requirements/run.txt pins for the image: packages of Linux and of the image's Python."""

from __future__ import annotations

import importlib.metadata
import re
from typing import TYPE_CHECKING, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from image import PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.metadata import Distribution
    from pathlib import Path

_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class Pinned(NamedTuple):
    """A package of the lock and the SHA-256 of each file that it may come as."""

    name: str
    version: str
    sha256: tuple[str, ...]


def pinned(lock: str) -> list[Pinned]:
    """The packages that the image has, by name."""
    return sorted(_pinned(lock))


def _pinned(lock: str) -> Iterator[Pinned]:
    for entry in re.split(r"\n(?=\w)", lock):
        requirement = Requirement(entry.partition("\\")[0].strip())
        if applies(requirement):
            (version,) = requirement.specifier
            hashes = tuple(sorted(_HASH.findall(entry)))
            yield Pinned(canonicalize_name(requirement.name), version.version, hashes)


def applies(requirement: Requirement) -> bool:
    """Whether the image needs it, by its marker. No extras are asked for."""
    return requirement.marker is None or requirement.marker.evaluate(_environment())


def _environment() -> dict[str, str]:
    """What differs between this machine and the image; the rest is this machine's."""
    linux = {"os_name": "posix", "platform_system": "Linux", "sys_platform": "linux"}
    python = {"python_version": PYTHON, "python_full_version": f"{PYTHON}.0"}
    return {**linux, **python, "extra": ""}


def distributions(pins: Sequence[Pinned], folder: Path) -> dict[str, Distribution]:
    """The metadata of each, from a site-packages folder.

    Raises:
        LookupError: The folder has one of them not at all or in another version.
    """
    found: dict[str, Distribution] = {
        canonicalize_name(each.name): each
        for each in importlib.metadata.distributions(path=[str(folder)])
    }
    for pin in pins:
        has = found[pin.name].version if pin.name in found else "none"
        if has != pin.version:
            raise LookupError(f"the lock has {pin.name} {pin.version}, {folder} has {has}")
    return {pin.name: found[pin.name] for pin in pins}


def told(distribution: Distribution, field: str) -> list[str]:
    """What a package's metadata has in a field, which may come more than once."""
    return distribution.metadata.get_all(field) or []
