"""The ConfigMap of the pause, and the commands that write it."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from bailiff.cluster import Resource

if TYPE_CHECKING:
    from tests.harness.api import Api
    from tests.harness.objects import Object

WHOLE: Resource[Object] = Resource("", "v1", "configmaps", dict)


async def bailiff(api: Api, command: str, *arguments: str) -> tuple[int | None, str]:
    """The command as a person would type it: its exit code and what it says."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bailiff", command, "--kubeconfig", str(api.kubeconfig)),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    return process.returncode, said.decode()
