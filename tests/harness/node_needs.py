"""Why what needs a node of its own cannot be tried on this machine."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from bailiff.agent.readings.mounts import find_mounts
from bailiff.agent.readings.places import Places
from tests.harness import containerd


def no_cgroups() -> str:
    """Empty: cgroups may be made here."""
    if sys.platform != "linux":
        return "needs Linux"
    if os.geteuid() != 0:
        return "needs root"
    mounts = find_mounts(Places())
    mount = mounts.memory or mounts.unified
    if mount is None:
        return "needs cgroups v1 or v2, mounted"
    if not os.access(mount, os.W_OK) or os.statvfs(mount).f_flag & os.ST_RDONLY:
        return f"needs {mount} mounted read-write"
    return ""


def no_runtime() -> str:
    """Empty: a container runtime can be started here, with pods made of a program of Go."""
    lacking = containerd.missing() or ("" if shutil.which("go") else "go is not on this machine")
    return lacking or no_cgroups()


def needs(why_not: str) -> list[pytest.MarkDecorator]:
    """The marks of tests that need a node."""
    return [pytest.mark.node, pytest.mark.skipif(bool(why_not), reason=why_not)]
