"""How an image came about, as SLSA's provenance: the predicate that whoever builds signs."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from image import RELEASE
from image.source import LOCK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from image.debian import Package
    from image.source import Source

PREDICATE_TYPE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "https://bailiff.dev/image/v1"


def provenance(source: Source, packages: Sequence[Package], builder: str) -> str:
    """The predicate of https://slsa.dev/provenance/v1, without its subject.

    The signer adds that: the image's digest. `builder` is the address by which those who verify
    know the machine that built; nobody else can say it.
    """
    lock = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    wheels = {"name": "requirements/run.txt", "digest": {"sha256": lock}}
    predicate = {
        "buildDefinition": {
            "buildType": BUILD_TYPE,
            "externalParameters": {"revision": source.revision, "release": RELEASE},
            "internalParameters": {"SOURCE_DATE_EPOCH": source.epoch},
            "resolvedDependencies": [*_commit(source), wheels, *map(_deb, packages)],
        },
        "runDetails": {"builder": {"id": builder}},
    }
    return json.dumps(predicate, indent=1) + "\n"


def _commit(source: Source) -> list[dict[str, Any]]:
    """None of a tree that is changed, or outside of git: its commit is not what was built."""
    known = source.revision and not source.revision.endswith("-dirty")
    return [{"name": "bailiff", "digest": {"gitCommit": source.revision}}] if known else []


def _deb(package: Package) -> dict[str, Any]:
    return {"name": package.file, "digest": {"sha256": package.sha256}}
