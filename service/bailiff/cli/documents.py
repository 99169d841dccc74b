"""Files as kubectl writes and reads them: YAML or JSON, one document, several, or lists."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from bailiff.cli.errors import InputError
from bailiff.kinds import DecodeError, decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

# etcd, and so Kubernetes, keeps no larger object.
MAX_YAML_BYTES = 3 * 512 * 1024
# As long as the decision API takes questions about devices. Longer than one object only as JSON.
MAX_BYTES = 16 * 1024 * 1024
_NO_KIND = "$.kind: required of a Kubernetes object, such as kubectl get -o yaml prints"
# Kinds of lists end in it; kubectl's own has no more of a name.
_LIST = "List"


def check_standard_input(paths: Iterable[Path]) -> None:
    """Refuse to read standard input more than once: the second time it is empty.

    Raises:
        InputError: several of the paths are `-`.
    """
    if sum(str(path) == "-" for path in paths) > 1:
        raise InputError("-f -: standard input can be read only once")


def read_objects(path: Path, name: str) -> Iterator[dict[str, Any]]:
    """The Kubernetes objects of a file, those of lists one by one; each has a `kind`.

    Args:
        path: the file; `-` is standard input.
        name: what errors call it, with the option that it was given by.

    Raises:
        InputError: it cannot be read, is neither YAML nor JSON, or holds something else.
    """
    for document in _documents(path, name):
        yield from _objects(document, name)


def read_document(path: Path, name: str, *, may_be_empty: bool = False) -> object:
    """What a file holds that is one YAML or JSON document; arguments and errors as read_objects.

    Args:
        path: see there.
        name: see there.
        may_be_empty: what holds nothing is None, and no error.
    """
    found = _documents(path, name)
    if may_be_empty and not found:
        return None
    if len(found) != 1:
        raise InputError(f"{name}: expected one document, got {len(found)}")
    return found[0]


def _objects(document: object, name: str) -> Iterator[dict[str, Any]]:
    if not isinstance(document, dict):
        raise InputError(f"{name}: expected Kubernetes objects, got {_told(document)}")
    kind, items = document.get("kind"), document.get("items")
    if not isinstance(kind, str) or not kind:
        raise InputError(f"{name}: {_NO_KIND}")
    if not kind.endswith(_LIST):
        yield document
        return
    # The API leaves the kind out of the items of a PodList.
    usual = {"kind": kind.removesuffix(_LIST)} if kind != _LIST else {}
    if items is not None and not isinstance(items, list):
        raise InputError(f"{name}: $.items: expected a list")
    for item in items or ():
        yield from _objects(usual | item if isinstance(item, dict) else item, name)


def _told(value: object) -> str:
    return "a list" if isinstance(value, list) else "a text or a number"


def _documents(path: Path, name: str) -> list[object]:
    data = _read(path, name)
    if data.lstrip()[:1] == b"{":
        # What kubectl writes as JSON is read a hundred times faster than as YAML.
        with contextlib.suppress(DecodeError):
            return [decode(data, object)]
    if len(data) > MAX_YAML_BYTES:
        raise InputError(f"{name}: YAML larger than {MAX_YAML_BYTES} bytes: give it as JSON")
    from bailiff.kinds.yaml_text import parse_yaml_documents  # noqa: PLC0415 - JSON needs none

    try:
        return parse_yaml_documents(data)
    except DecodeError as error:
        raise InputError(f"{name}: {error.reason}") from error


def _read(path: Path, name: str) -> bytes:
    try:
        if str(path) == "-":
            if sys.stdin is None:
                raise InputError(f"{name}: standard input is closed")
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{name}: larger than {MAX_BYTES} bytes")
    return data
