"""Which licences may be in the image, and the document that lists them."""

from __future__ import annotations

import importlib.metadata
import sysconfig
from pathlib import Path

import pytest

from image.licences import LicenceRefusedError, licence, page
from image.lock import distributions, pinned
from image.source import CLIENT_LOCK, LOCK

ROOT = Path(__file__).parents[3]
OSI = "Classifier: License :: OSI Approved :: "


def package(folder: Path, *lines: str) -> importlib.metadata.Distribution:
    text = "\n".join(("Metadata-Version: 2.4", "Name: some", "Version: 1", *lines)) + "\n"
    (folder / "METADATA").write_text(text)
    return importlib.metadata.Distribution.at(folder)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["License-Expression: MIT"], "MIT"),
        (["License-Expression: mit"], "MIT"),
        (["License-Expression: Apache-2.0 AND MIT"], "Apache-2.0 AND MIT"),
        # One of them is enough to choose.
        (["License-Expression: GPL-3.0-only OR MIT"], "GPL-3.0-only OR MIT"),
        (["License: Apache 2.0"], "Apache-2.0"),
        (["License: MIT", f"{OSI}Apache Software License"], "MIT"),
        ([f"{OSI}MIT License"], "MIT"),
    ],
)
def test_allowed(tmp_path: Path, lines: list[str], expected: str) -> None:
    assert licence(package(tmp_path, *lines)) == expected


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "'' is not on the list"),
        (["License-Expression: GPL-3.0-only"], "not on the list"),
        (["License-Expression: MIT AND AGPL-3.0-only"], "not on the list"),
        (["License-Expression: GPL-2.0-only WITH Classpath-exception-2.0"], "not on the list"),
        (["License-Expression: LicenseRef-Ours"], "Unknown license"),
        (["License: As you like it"], "some: 'As you like it'"),
        (["License-Expression: MIT AND"], "some: 'MIT AND'"),
        # Both, or either? Somebody must read it.
        ([f"{OSI}MIT License", f"{OSI}Apache Software License"], "not on the list"),
    ],
)
def test_refused(tmp_path: Path, lines: list[str], why: str) -> None:
    with pytest.raises(LicenceRefusedError, match=why):
        licence(package(tmp_path, *lines))


def test_the_document_is_that_of_the_locks() -> None:
    installed = Path(sysconfig.get_path("platlib"))
    found = [distributions(pinned(lock.read_text()), installed) for lock in (LOCK, CLIENT_LOCK)]
    assert (ROOT / "docs" / "licences.md").read_text() == page(*found), "run `make licences`"
