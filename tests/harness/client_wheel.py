"""The client's wheel in an environment of its own, with what it says that it needs and nothing
else.

Tests have no network: what the wheel requires is linked from the environment that runs them,
package by package as their metadata tells. So a dependency that is not declared is missing here,
too.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).parents[2] / "service"


def built(folder: Path, source: Path = SOURCE, name: str = "bailiff_client-*.whl") -> Path:
    """The wheel, built by hatchling of this environment; or that of another source."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,) = folder.glob(name)
    return wheel


def installed(wheel: Path, folder: Path) -> Path:
    """The Python of a new environment with the wheel."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (own,) = site.glob("bailiff_client-*.dist-info")
    for name in needed(PathDistribution(own)):
        _link(distribution(name), site)
    return folder / "bin" / "python"


def needed(of: Distribution) -> set[str]:
    """The names of all that a distribution requires, and what those require."""
    found: set[str] = set()
    waiting = list(_required(of))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_required(distribution(name)))
    return found


def _required(of: Distribution) -> Iterator[str]:
    for line in of.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield canonicalize_name(requirement.name)


def _link(of: Distribution, site: Path) -> None:
    for file in of.files or ():
        if file.parts[0] == ".." or file.suffix == ".pyc":
            continue
        place = site / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(Path(str(file.locate())).resolve())
