"""Kubernetes objects in files: YAML or JSON, one, several documents, or lists."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from bailiff.kinds import DecodeError, decode, decode_yaml_value
from bailiff.kinds.yaml_text import parse_yaml, parse_yaml_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

T = TypeVar("T")

# etcd, and so Kubernetes, keeps no larger object.
MAX_FILE_BYTES = 3 * 512 * 1024
# As long as the decision API takes questions about devices. Longer than one object only as JSON.
MAX_LIST_BYTES = 16 * 1024 * 1024


class InputError(Exception):
    """A file or an argument that cannot be used; the message says which and why."""


def check_standard_input(paths: Iterable[Path]) -> None:
    """Refuse to read standard input more than once: the second time it is empty.

    Raises:
        InputError: several of the paths are `-`.
    """
    if sum(str(path) == "-" for path in paths) > 1:
        raise InputError("-: standard input can be read only once")


def read_object(path: Path, kind: type[T], kind_name: str, namespace: str = "") -> T:
    """One Kubernetes object from a YAML or JSON file.

    Args:
        path: the file; `-` is standard input.
        kind: what it holds.
        kind_name: its name.
        namespace: for an object that names none.

    Raises:
        InputError: the file cannot be read, is no YAML, or holds something else.
    """
    value = _parse(path, _read(path, MAX_FILE_BYTES), parse_yaml)
    if not isinstance(value, dict):
        raise InputError(f"{path}: expected one {kind_name} object")
    return _decode(path, _placed(value, namespace), kind)


def read_objects(
    paths: Iterable[Path], kind: type[T], kind_name: str, namespace: str = ""
) -> tuple[T, ...]:
    """All Kubernetes objects of some files, each YAML documents or JSON, single ones or lists.

    Args and errors as `read_object`.
    """
    return tuple(
        _decode(path, _placed(value, namespace), kind)
        for path in paths
        for value in _listed(path, kind_name)
    )


def _placed(value: dict[str, Any], namespace: str) -> dict[str, Any]:
    metadata = value.get("metadata") or {}
    if not namespace or not isinstance(metadata, dict) or metadata.get("namespace"):
        return value
    return value | {"metadata": metadata | {"namespace": namespace}}


def _decode(path: Path, value: dict[str, Any], kind: type[T]) -> T:
    try:
        return decode_yaml_value(value, kind)
    except DecodeError as error:
        raise InputError(f"{path}: {error}") from error


def _listed(path: Path, kind_name: str) -> Iterator[dict[str, Any]]:
    """The objects of a file, those of lists one by one."""
    for document in _documents(path):
        items = document.get("items") if isinstance(document, dict) else document
        for value in items if isinstance(items, list) else [document]:
            if not isinstance(value, dict):
                raise InputError(f"{path}: expected {kind_name} objects")
            yield value


def _documents(path: Path) -> list[object]:
    data = _read(path, MAX_LIST_BYTES)
    if data.lstrip()[:1] in (b"{", b"["):
        # What kubectl writes as JSON is read a hundred times faster than as YAML.
        with contextlib.suppress(DecodeError):
            return [decode(data, object)]
    if len(data) > MAX_FILE_BYTES:
        raise InputError(f"{path}: YAML larger than {MAX_FILE_BYTES} bytes: give it as JSON")
    return _parse(path, data, parse_yaml_documents)


def _parse(path: Path, data: bytes, parse: Callable[[bytes], T]) -> T:
    try:
        return parse(data)
    except DecodeError as error:
        raise InputError(f"{path}: {error.reason}") from error


def _read(path: Path, limit: int) -> bytes:
    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(limit + 1)
        else:
            with path.open("rb") as file:
                data = file.read(limit + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    if len(data) > limit:
        raise InputError(f"{path}: larger than {limit} bytes")
    return data
