"""What is in the image, as a CycloneDX document."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from image import RELEASE, ROOT
from image.licences import licence
from image.lock import applies, distributions, pinned, told
from image.source import LOCK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from importlib.metadata import Distribution
    from pathlib import Path

    from image.debian import Package
    from image.lock import Pinned
    from image.source import Source

_LICENCES = LicenseFactory()


def sbom(source: Source, site: Path, packages: Sequence[Package]) -> str:
    """CycloneDX 1.6 in JSON: the wheels of the lock in `site`, and Debian's packages.

    The same image has the same document: its serial number is made of the version and revision, its
    time is that of the commit.

    Raises:
        LicenceRefusedError: A wheel's licence is not on the list.
        LookupError: The folder has other wheels than the lock.
    """
    pins = pinned(LOCK.read_text())
    found = distributions(pins, site)
    wheels = {pin.name: wheel(pin, found[pin.name]) for pin in pins}
    debs = [deb(package) for package in packages]
    root = Component(
        name="bailiff",
        version=source.version,
        type=ComponentType.CONTAINER,
        bom_ref="bailiff",
        licenses=[_LICENCES.make_from_string("Apache-2.0")],
    )
    bom = Bom(components=[*wheels.values(), *debs])
    bom.serial_number = uuid5(NAMESPACE_URL, f"bailiff:{source.version}:{source.revision}")
    bom.metadata.timestamp = datetime.fromtimestamp(source.epoch, UTC)
    bom.metadata.component = root
    bom.register_dependency(root, [*_named(direct(), wheels), *debs])
    for name, each in wheels.items():
        bom.register_dependency(each, _named(found[name].requires or [], wheels))
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"


def wheel(pin: Pinned, found: Distribution) -> Component:
    """A package of PyPI. The lock knows hashes of all its files, not which of them was taken."""
    purl = PackageURL("pypi", None, pin.name, pin.version)
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=each) for each in pin.sha256]
    return Component(
        name=pin.name,
        version=pin.version,
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        purl=purl,
        description=next(iter(told(found, "Summary")), None),
        licenses=[_LICENCES.make_from_string(licence(found))],
        external_references=[
            ExternalReference(
                type=ExternalReferenceType.DISTRIBUTION, url=XsUri(str(purl)), hashes=hashes
            )
        ],
    )


def deb(package: Package) -> Component:
    """A package of Debian, by the hash of its .deb."""
    name, version = package.field("Package"), package.field("Version")
    where = {"arch": package.field("Architecture"), "distro": f"debian-{RELEASE}"}
    # Debian's advisories are by source package, which may have another name.
    if came_from := package.field("Source"):
        where["upstream"] = came_from.partition(" ")[0]
    purl = PackageURL("deb", "debian", name, version, qualifiers=where)
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        purl=purl,
        description=package.field("Description"),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=package.sha256)],
    )


def direct() -> list[str]:
    """What Bailiff itself asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [str(each) for each in project["dependencies"]]


def _named(requirements: Iterable[str], wheels: Mapping[str, Component]) -> list[Component]:
    wanted = [each for each in map(Requirement, requirements) if applies(each)]
    return [wheels[canonicalize_name(each.name)] for each in wanted]
