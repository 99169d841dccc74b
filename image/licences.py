"""The licences of what is installed from PyPI: `make licences` writes docs/licences.md.

A package says its licence as an SPDX expression (PEP 639), or in older metadata in words. What is
neither, or is no licence of the list, is refused: somebody reads it, and then it stands here.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

from license_expression import ExpressionError, get_spdx_licensing  # type: ignore[import-untyped]

from image.lock import distributions, pinned, told
from image.source import CLIENT_LOCK, LOCK

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import Distribution

# All allow use in and beside Apache-2.0 and ask for their text only, which the wheels carry; the
# MPL asks for the source of changed files, and none is changed.
ALLOWED = frozenset(
    {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0"}
)
# What older metadata writes.
SPELLINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "ISC License": "ISC",
    "MIT License": "MIT",
    "The MIT License (MIT)": "MIT",
}
_CLASSIFIER = "License :: OSI Approved :: "
_SPDX = get_spdx_licensing()
HEAD = """\
# Licences

What the image installs from PyPI. `make licences` writes this table from the packages' metadata; a
test holds it against the lock. A licence that is not on the list in `image/licences.py` fails it.
Debian's packages carry theirs in `/usr/share/doc/*/copyright` in the image.

| package | version | licence |
|---|---|---|
"""
CLIENT_HEAD = """
## The client

What `bailiff-client` installs from PyPI:

| package | version | licence |
|---|---|---|
"""


class LicenceRefusedError(Exception):
    """A package says no licence, or one that is not on the list."""


def licence(distribution: Distribution) -> str:
    """A package's licence as an SPDX expression.

    Raises:
        LicenceRefusedError: It says none that can be told, or one that is not on the list.
    """
    said = _said(distribution)
    try:
        parsed = _SPDX.parse(SPELLINGS.get(said, said), validate=True)
    except ExpressionError as error:
        raise LicenceRefusedError(f"{distribution.name}: {said!r}: {error}") from error
    if parsed is None or not _allowed(parsed):
        raise LicenceRefusedError(f"{distribution.name}: {said!r} is not on the list")
    return str(parsed)


def _said(distribution: Distribution) -> str:
    said = told(distribution, "Classifier")
    classifiers = [text.removeprefix(_CLASSIFIER) for text in said if text.startswith(_CLASSIFIER)]
    # Two classifiers do not tell whether both hold or either may be chosen.
    alone = classifiers if len(classifiers) == 1 else []
    # Some packages put the whole text there, which begins with its name.
    named = [text.partition("\n")[0] for text in told(distribution, "License")]
    said = [*told(distribution, "License-Expression"), *named, *alone]
    return next(filter(None, said), "")


def _allowed(expression: Any) -> bool:  # noqa: ANN401 - its package has no types
    if isinstance(expression, _SPDX.AND):
        return all(_allowed(each) for each in expression.args)
    if isinstance(expression, _SPDX.OR):
        return any(_allowed(each) for each in expression.args)
    return str(expression) in ALLOWED


def page(image: Mapping[str, Distribution], client: Mapping[str, Distribution]) -> str:
    """The document: what the image installs, and what `bailiff-client` does."""
    return HEAD + _rows(image) + CLIENT_HEAD + _rows(client)


def _rows(found: Mapping[str, Distribution]) -> str:
    rows = (f"| {name} | {each.version} | {licence(each)} |\n" for name, each in found.items())
    return "".join(rows)


def main() -> int:
    """Print the document; the exit code."""
    installed = Path(sysconfig.get_path("platlib"))
    try:
        locks = (distributions(pinned(lock.read_text()), installed) for lock in (LOCK, CLIENT_LOCK))
        print(page(*locks), end="")
    except (LicenceRefusedError, LookupError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
