"""Images for a real node, as archives that `ctr images import` reads."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_KIBIBYTE = 1024
# How many of each batch, and of how many KiB: from the one to the other.
_BATCHES = {"early": 28, "later": 12, "young": 8, "newest": 2}
_SIZES = (1024, 3072)


class Image(NamedTuple):
    """One image.

    Attributes:
        name: its tag.
        layers: tar archives, the lowest first.
    """

    name: str
    layers: tuple[bytes, ...]

    @property
    def config(self) -> bytes:
        """By its digest the image is known: its ID."""
        told = {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Entrypoint": ["/filler"]},
            "rootfs": {
                "type": "layers",
                "diff_ids": [f"sha256:{digest_of(one)}" for one in self.layers],
            },
        }
        return json.dumps(told).encode()


def image_of(name: str, program: bytes, content: bytes = b"") -> Image:
    """One with this program, and with this content beside it."""
    layers = [archive({"filler": program})]
    if content:
        layers.append(archive({"content": content}))
    return Image(name, tuple(layers))


def garbage(program: bytes) -> dict[str, list[Image]]:
    """Batches of images, each image with content of its own: `early-1` to `newest-2`.

    They are the same in each run.
    """
    return {
        batch: [
            image_of(f"docker.io/local/{batch}-{number}:1", program, _content(f"{batch}-{number}"))
            for number in range(1, count + 1)
        ]
        for batch, count in _BATCHES.items()
    }


def _content(seed: str) -> bytes:
    random = Random(seed)
    return random.randbytes(random.randint(*_SIZES) * _KIBIBYTE)


def archive_of(images: Iterable[Image]) -> bytes:
    """All of them in one archive, layers that they share once."""
    files: dict[str, bytes] = {}
    manifest = []
    for image in images:
        name = f"{digest_of(image.config)}.json"
        layers = {f"{digest_of(one)}.tar": one for one in image.layers}
        files |= {name: image.config, **layers}
        manifest.append({"Config": name, "RepoTags": [image.name], "Layers": list(layers)})
    return archive(files | {"manifest.json": json.dumps(manifest).encode()})


def digest_of(data: bytes) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def archive(files: dict[str, bytes]) -> bytes:
    """A tar archive of files that may be executed."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755
            tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()
