"""The root file system as layers: what seldom changes below, what always changes on top.

An upgrade of Bailiff then moves a few hundred kilobytes, not a hundred megabytes.
"""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from image import HOME, SITE, USER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from image.debian import Package

CERTIFICATES = "usr/share/ca-certificates/mozilla/"
BUNDLE = "etc/ssl/certs/ca-certificates.crt"
PASSWD = f"root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:{USER}:{USER}:nonroot:/:/sbin/nologin\n"
GROUP = f"root:x:0:\nnonroot:x:{USER}:\n"
# The lowest first. A path belongs to the last of them that it is in.
FOLDERS = {"debian": "", "dependencies": HOME, "bailiff": f"{SITE}/bailiff"}
# What mmdebstrap needs of the machine and its apt; a container has its own of the first three.
NOT_OURS = ("dev/", "etc/hostname", "etc/resolv.conf", "etc/apt/", "etc/dpkg/", "var/")


def added(packages: Iterable[Package]) -> dict[str, bytes]:
    """Files that packages would make when they are installed; extracted ones do not.

    `status.d` is where scanners look for packages in an image that has no dpkg.
    """
    controls = {
        f"var/lib/dpkg/status.d/{package.field('Package')}": package.control.encode()
        for package in packages
    }
    return controls | {"etc/passwd": PASSWD.encode(), "etc/group": GROUP.encode()}


def split(tar: Path, into: Path, extra: Mapping[str, bytes], epoch: int) -> dict[str, Path]:
    """Write a tar for each layer, by name; `extra` and the certificates go into the lowest."""
    written = {name: into / f"{name}.tar" for name in FOLDERS}
    with tarfile.open(tar) as whole:
        members = {_path(member): member for member in whole if _ours(_path(member))}
        files = {**extra, BUNDLE: _bundle(whole, members)}
        members |= {path: _file(path, content, epoch) for path, content in files.items()}
        _with_parents(members, epoch)
        for name, layer in written.items():
            with tarfile.open(layer, "w", format=tarfile.PAX_FORMAT) as out:
                for path in sorted(path for path in members if _in(name, path)):
                    _copy(members[path], whole, out, files.get(path))
    return written


def layer_of(path: str) -> str:
    """The layer that has a path."""
    return [name for name, folder in FOLDERS.items() if _within(path, folder)][-1]


def _within(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _in(name: str, path: str) -> bool:
    """A layer also has the folders above its own: their modes are those of the last layer."""
    return layer_of(path) == name or _within(FOLDERS[name], path)


def _path(member: tarfile.TarInfo) -> str:
    return member.name.removeprefix("./").strip("/")


def _ours(path: str) -> bool:
    return path not in {"", "."} and not f"{path}/".startswith(NOT_OURS) and path not in NOT_OURS


def _bundle(whole: tarfile.TarFile, members: Mapping[str, tarfile.TarInfo]) -> bytes:
    """All certificates that Debian trusts, in one file, as update-ca-certificates makes it."""
    names = sorted(path for path in members if path.startswith(CERTIFICATES))
    texts = (_content(whole, members[name]) for name in names if name.endswith(".crt"))
    return b"".join(text.strip() + b"\n" for text in texts)


def _content(whole: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = whole.extractfile(member)
    return file.read() if file else b""


def _file(path: str, content: bytes, epoch: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.size, info.mtime, info.mode = len(content), epoch, 0o644
    return info


def _with_parents(members: dict[str, tarfile.TarInfo], epoch: int) -> None:
    """Folders that only the added files are in."""
    for path in list(members):
        for parent in map(str, Path(path).parents):
            if parent != "." and parent not in members:
                info = tarfile.TarInfo(parent)
                info.type, info.mtime, info.mode = tarfile.DIRTYPE, epoch, 0o755
                members[parent] = info


def _copy(
    member: tarfile.TarInfo, whole: tarfile.TarFile, out: tarfile.TarFile, content: bytes | None
) -> None:
    """One member, by numbers: no name of a user, no time but that of change."""
    held = io.BytesIO(content) if content is not None else None
    if held is None and member.isreg():
        held = io.BytesIO(_content(whole, member))
    clean = member.replace(name=_path(member), uname="", gname="", deep=True)
    clean.pax_headers = {}
    out.addfile(clean, held)
