"""The root file system as layers, and what is left out of it or added."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from image import SITE
from image.debian import Package
from image.layers import BUNDLE, CERTIFICATES, added, layer_of, split

EPOCH = 1_700_000_000
OURS = f"{SITE}/bailiff"


@pytest.mark.parametrize(
    ("path", "layer"),
    [
        ("usr/bin/python3.13", "debian"),
        ("opt", "debian"),
        ("opt/bailiffs", "debian"),
        ("opt/bailiff", "dependencies"),
        (f"{SITE}/bailiffs/__init__.py", "dependencies"),
        (f"{SITE}/fastapi/__init__.py", "dependencies"),
        (OURS, "bailiff"),
        (f"{OURS}/cli/__init__.py", "bailiff"),
    ],
)
def test_layer_of(path: str, layer: str) -> None:
    assert layer_of(path) == layer


def root(folder: Path, files: dict[str, bytes]) -> Path:
    """A tar as mmdebstrap writes it, with names of users, in any order."""
    with tarfile.open(folder / "root.tar", "w") as out:
        for path in ("./", "./tmp/", "./opt/"):
            info = tarfile.TarInfo(path)
            info.type, info.mode = tarfile.DIRTYPE, 0o1777 if path == "./tmp/" else 0o755
            out.addfile(info)
        for path, content in files.items():
            info = tarfile.TarInfo(f"./{path}")
            info.size, info.uname, info.mtime = len(content), "somebody", EPOCH
            out.addfile(info, io.BytesIO(content))
    return folder / "root.tar"


def members(layer: Path) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(layer) as opened:
        return {
            each.name: (each, file.read() if (file := opened.extractfile(each)) else b"")
            for each in opened
        }


FILES = {
    f"{OURS}/cli.py": b"ours",
    "usr/bin/python3.13": b"python",
    f"{SITE}/fastapi.py": b"theirs",
    f"{CERTIFICATES}B.crt": b"\nsecond\n\n",
    f"{CERTIFICATES}A.crt": b"first",
    f"{CERTIFICATES}README": b"no certificate",
}
# What a machine leaves there, and what apt needs to make it.
MACHINE = {"dev/null": b"", "etc/hostname": b"mine", "etc/resolv.conf": b"", "var/lib/apt/x": b""}


def test_split(tmp_path: Path) -> None:
    tar = root(tmp_path, FILES | MACHINE)
    layers = split(tar, tmp_path, {"var/lib/dpkg/status.d/some": b"Package: some\n"}, EPOCH)
    assert list(layers) == ["debian", "dependencies", "bailiff"]
    debian, dependencies, bailiff = (members(layer) for layer in layers.values())
    parents = {str(parent) for parent in Path(SITE).parents} - {"."} | {SITE}
    assert set(bailiff) == parents | {OURS, f"{OURS}/cli.py"}
    assert set(dependencies) == parents | {f"{SITE}/fastapi.py"}
    assert debian["usr/bin/python3.13"][1] == b"python"
    assert debian["var/lib/dpkg/status.d/some"][1] == b"Package: some\n"
    assert debian[BUNDLE][1] == b"first\nsecond\n"
    assert not set(debian) & set(MACHINE)


def test_members_are_in_order_and_name_no_user(tmp_path: Path) -> None:
    for layer in split(root(tmp_path, FILES), tmp_path, {}, EPOCH).values():
        found = members(layer)
        assert list(found) == sorted(found)
        assert {each.uname + each.gname for each, _ in found.values()} == {""}


def test_modes_stay(tmp_path: Path) -> None:
    layers = split(root(tmp_path, FILES), tmp_path, {}, EPOCH)
    assert members(layers["debian"])["tmp"][0].mode == 0o1777


def test_the_order_of_the_root_file_system_does_not_show(tmp_path: Path) -> None:
    contents = []
    for name, files in (("a", FILES), ("b", dict(reversed(FILES.items())))):
        folder = tmp_path / name
        folder.mkdir()
        layers = split(root(folder, files), folder, {}, EPOCH)
        contents.append([layer.read_bytes() for layer in layers.values()])
    assert contents[0] == contents[1]


def test_added() -> None:
    files = added([Package("some_1_all.deb", "", "Package: some\nVersion: 1\n")])
    assert files["var/lib/dpkg/status.d/some"] == b"Package: some\nVersion: 1\n"
    assert b"nonroot:x:65532:65532:" in files["etc/passwd"]
