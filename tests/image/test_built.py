"""What is in the image: the same each time, all that is needed, and nothing else."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import IO, Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from bailiff import __version__
from image import ENTRYPOINT, SITE
from image.__main__ import PACKAGES, SBOM
from image.lock import pinned
from image.source import LOCK

pytestmark = [pytest.mark.image]

ROOT = Path(__file__).parents[2]
# Of a .pyc that is told by a hash and not compared with its source (PEP 552).
UNCHECKED_HASH = (1).to_bytes(4, "little")


class Contents:
    """The members of each layer, and the settings."""

    def __init__(self, archive: Path) -> None:
        with tarfile.open(archive) as whole:
            self.index = json.load(self._file(whole, "index.json"))
            manifest = self._blob(whole, self.index["manifests"][0])
            self.config: dict[str, Any] = self._blob(whole, manifest["config"])
            self.layers = [self._layer(whole, each) for each in manifest["layers"]]
            self.manifest = manifest

    @property
    def members(self) -> dict[str, tarfile.TarInfo]:
        return {name: member for layer in self.layers for name, member in layer.items()}

    def _layer(self, whole: tarfile.TarFile, told: dict[str, Any]) -> dict[str, tarfile.TarInfo]:
        with tarfile.open(fileobj=self._file(whole, _path(told))) as layer:
            self.compiled = {
                name: self._file(layer, name).read(8)[4:]
                for name in layer.getnames()
                if name.endswith(".pyc")
            }
            return {member.name: member for member in layer}

    def _blob(self, whole: tarfile.TarFile, told: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = json.load(self._file(whole, _path(told)))
        return found

    @staticmethod
    def _file(whole: tarfile.TarFile, name: str) -> IO[bytes]:
        file = whole.extractfile(name)
        assert file is not None
        return file


def _path(told: dict[str, Any]) -> str:
    return f"blobs/{told['digest'].replace(':', '/')}"


@pytest.fixture(scope="module")
def contents(archive: Path) -> Contents:
    return Contents(archive)


def test_two_builds_are_the_same_bytes(built: tuple[Path, Path]) -> None:
    one, other = ({file.name: file.read_bytes() for file in each.iterdir()} for each in built)
    assert set(one) == {f"bailiff-{__version__}.oci.tar", PACKAGES, SBOM}
    # Not ==, which would print them.
    assert [name for name in one if one[name] != other.get(name)] == []


def test_the_product_is_in_it_and_nothing_beside_it(contents: Contents) -> None:
    members = contents.members
    assert f"{SITE}/bailiff/__main__.py" in members
    assert not [name for name in members if "bailiff_demo" in name]
    programs = {name for name in members if name.startswith(("usr/bin/", "usr/sbin/"))}
    assert programs == {"usr/bin/python3.13"}


def test_an_upgrade_of_bailiff_moves_one_layer(contents: Contents) -> None:
    debian, dependencies, bailiff = (set(layer) for layer in contents.layers)
    own = f"{SITE}/bailiff"
    assert {name for name in bailiff if not name.startswith(own)} == {
        str(parent) for parent in Path(own).parents if str(parent) != "."
    }
    assert not [name for name in debian if name.startswith("opt/")]
    assert f"{SITE}/fastapi/__init__.py" in dependencies


def test_nothing_gives_rights_or_tells_of_the_machine(contents: Contents) -> None:
    for name, member in contents.members.items():
        assert (member.uid, member.gid, member.uname, member.gname) == (0, 0, "", ""), name
        assert not member.mode & 0o6000, name
        assert not member.mode & 0o002 or name == "tmp" or member.issym(), name
        assert member.isreg() or member.isdir() or member.issym(), name
    for layer in contents.layers:
        assert list(layer) == sorted(layer)


def test_every_module_is_compiled_for_good(contents: Contents) -> None:
    modules = [name for name in contents.layers[-1] if name.endswith(".py")]
    assert len(contents.compiled) == len(modules) > 100
    assert set(contents.compiled.values()) == {UNCHECKED_HASH}


def test_the_settings(contents: Contents) -> None:
    config = contents.config["config"]
    assert config["User"] == "65532:65532"
    assert tuple(config["Entrypoint"]) == ENTRYPOINT
    assert "-I" in ENTRYPOINT
    labels = config["Labels"]
    assert labels == contents.manifest["annotations"]
    assert labels["org.opencontainers.image.version"] == __version__
    assert labels["org.opencontainers.image.created"] == contents.config["created"]


def test_scanners_find_debian_and_its_packages(contents: Contents, built) -> None:
    listed = json.loads((built[0] / PACKAGES).read_text())
    known = {Path(name).name for name in contents.members if "/status.d/" in name}
    assert known == {each["file"].partition("_")[0] for each in listed}
    assert "usr/lib/os-release" in contents.members


def test_the_sbom_is_valid_and_whole(built: tuple[Path, Path]) -> None:
    text = (built[0] / SBOM).read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    found = {each["purl"].partition("?")[0] for each in json.loads(text)["components"]}
    wheels = {f"pkg:pypi/{each.name}@{each.version}" for each in pinned(LOCK.read_text())}
    listed = json.loads((built[0] / PACKAGES).read_text())
    assert {purl for purl in found if purl.startswith("pkg:pypi/")} == wheels
    assert len(found - wheels) == len(listed) > 20
