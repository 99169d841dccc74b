"""The SBOM is valid, whole, and the same for the same image."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from image.debian import Package
from image.lock import pinned
from image.sbom import sbom
from image.source import LOCK, Source

SOURCE = Source("1.2.3", 1_700_000_000, "abc")
CONTROL = "Package: libssl3t64\nSource: openssl (3.5)\nVersion: 3.5~1+b2\nArchitecture: amd64\n"
DEB = Package("libssl3t64_3.5~1+b2_amd64.deb", "a" * 64, f"{CONTROL}Description: TLS\n more\n")
INSTALLED = Path(sysconfig.get_path("platlib"))


@pytest.fixture(scope="module")
def text() -> str:
    return sbom(SOURCE, INSTALLED, [DEB])


def test_it_is_valid_and_the_same_again(text: str) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert sbom(SOURCE, INSTALLED, [DEB]) == text
    assert json.loads(text)["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"


def test_every_package_of_the_lock_is_in_it(text: str) -> None:
    components = {each["purl"]: each for each in json.loads(text)["components"]}
    for pin in pinned(LOCK.read_text()):
        one = components[f"pkg:pypi/{pin.name}@{pin.version}"]
        (reference,) = one["externalReferences"]
        assert {each["content"] for each in reference["hashes"]} == set(pin.sha256)
        assert one["licenses"]


def test_a_package_of_debian_is_found_by_its_source_too(text: str) -> None:
    (one,) = (each for each in json.loads(text)["components"] if each["name"] == "libssl3t64")
    assert one["purl"] == (
        "pkg:deb/debian/libssl3t64@3.5~1%2Bb2?arch=amd64&distro=debian-trixie&upstream=openssl"
    )
    assert one["hashes"] == [{"alg": "SHA-256", "content": "a" * 64}]
    assert one["description"] == "TLS"


def test_who_needs_what(text: str) -> None:
    needs = {
        each["ref"].partition("@")[0]: {ref.partition("@")[0] for ref in each.get("dependsOn", [])}
        for each in json.loads(text)["dependencies"]
    }
    assert {"pkg:pypi/fastapi", "pkg:deb/debian/libssl3t64"} <= needs["bailiff"]
    assert "pkg:pypi/pydantic" in needs["pkg:pypi/fastapi"]
    reached: set[str] = set()
    while found := set().union(*(needs[ref] for ref in {"bailiff"} | reached)) - reached:
        reached |= found
    assert reached == set(needs) - {"bailiff"}
