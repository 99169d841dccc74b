"""A file system of its own in a file, to be filled."""

from __future__ import annotations

import contextlib
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def loop_disk(folder: Path, size: int) -> Iterator[Path]:
    """Mounted below this folder until the block ends; takes root.

    Args:
        folder: where file and mount point are made.
        size: bytes.
    """
    image, place = folder / "disk.img", folder / "disk"
    with image.open("wb") as file:
        file.truncate(size)
    place.mkdir()
    # Nothing is kept back for root, so that what is free is available.
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)
        image.unlink()
