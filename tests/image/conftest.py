"""The image, built twice, and run once. Only `make image-test` does: it takes a minute."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from image.__main__ import PROGRAMS
from tests.harness.containerd import Containerd, containerd, missing

ROOT = Path(__file__).parents[2]
# What must not show in the image: another time zone, language and umask, another folder.
OTHER = {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "7"}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folders of two builds."""
    if "BAILIFF_BUILD_IMAGE" not in os.environ:
        pytest.skip("builds an image, which takes a minute: make image-test")
    lacking = [program for program in PROGRAMS if shutil.which(program) is None]
    if lacking:
        pytest.skip(f"not on this machine: {', '.join(lacking)}: see CONTRIBUTING.md")
    folders = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")
    # At once: each takes one core.
    with ThreadPoolExecutor() as both:
        list(both.map(build, folders, ({}, OTHER), (0o022, 0o077)))
    return folders


def build(folder: Path, variables: dict[str, str], umask: int) -> None:
    command = [sys.executable, "-m", "image", str(folder)]
    environment = os.environ | variables
    subprocess.run(command, cwd=ROOT, env=environment, umask=umask, check=True)


@pytest.fixture(scope="session")
def archive(built: tuple[Path, Path]) -> Path:
    (found,) = built[0].glob("*.oci.tar")
    return found


@pytest.fixture(scope="package")
def node(archive: Path) -> Iterator[Containerd]:
    """Where the image can be run."""
    if why := missing():
        pytest.skip(why)
    with containerd() as started:
        yield started
