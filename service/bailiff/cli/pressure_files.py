"""The files of `bailiff explain pressure`; errors name the option and the file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bailiff.bootstrap.pressure_files import WrongFileError, configuration_in, extensions_in
from bailiff.cli.documents import read_document
from bailiff.cli.errors import InputError
from bailiff.cli.output import printable, say
from bailiff.decisions.instants import in_utc
from bailiff.decisions.pressure.extensions import NO_EXTENSIONS, PressureExtensions
from bailiff.decisions.pressure.state import PressureState
from bailiff.kinds import DecodeError, decode_yaml_value
from bailiff.kinds.stats import Summary

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from bailiff.kinds.kubelet_configuration import KubeletConfiguration


def read_summary(path: Path) -> Summary:
    """Refuses another object: as a summary it would be one in which nothing was measured.

    Raises:
        InputError: it is another, or cannot be read.
    """
    name = _named("--summary", path)
    document = read_document(path, name)
    if not isinstance(document, dict) or not isinstance(document.get("node"), dict):
        raise InputError(
            f"{name}: $.node: required in what a kubelet answers to GET /stats/summary"
        )
    found: Summary = _converted(document, name, Summary)
    return found


def read_configuration(path: Path | None) -> KubeletConfiguration | None:
    """None: no file is named.

    Raises:
        InputError: it holds something else, or what no kubelet would start with.
    """
    if path is None:
        return None
    name = _named("--config", path)
    document = read_document(path, name)
    try:
        return configuration_in(document)
    except WrongFileError as error:
        raise InputError(error.of(name)) from error


def read_extensions(path: Path | None) -> PressureExtensions:
    """All of them off where no file is named, or an empty one.

    Raises:
        InputError: it holds something else, or what cannot be.
    """
    if path is None:
        return NO_EXTENSIONS
    name = _named("--extensions", path)
    document = read_document(path, name, may_be_empty=True)
    try:
        return extensions_in(document)
    except WrongFileError as error:
        raise InputError(error.of(name)) from error


def read_state(path: Path | None, now: datetime) -> PressureState:
    """Of an answer, of its report, or of what a worker keeps in the node's annotation.

    Args:
        path: the file; None: there was no round before.
        now: in UTC; a worker believes only so much of what has been kept for long.

    Raises:
        InputError: it holds something else.
    """
    if path is None:
        return PressureState()
    name = _named("--state", path)
    document: Any = read_document(path, name)
    if isinstance(document, dict) and "at" in document:
        return _kept_by_worker(document, name, now)
    for field in ("report", "next", "state"):
        if isinstance(document, dict) and field in document:
            document = document[field]
    found: PressureState = _converted(document, name, PressureState)
    return found


def _kept_by_worker(document: object, name: str, now: datetime) -> PressureState:
    # Loads what only an annotation needs.
    from bailiff.decisions.pressure.memory import LONGEST_BREAK, memory_of  # noqa: PLC0415

    found = memory_of(json.dumps(document))
    if found is None:
        raise InputError(f"{name}: no worker could go on by it: it is none of its annotations")
    told = f"state: a worker's of {in_utc(found.at).isoformat().replace('+00:00', 'Z')}"
    if (now - found.at).total_seconds() > LONGEST_BREAK:
        told += f", which is more than {LONGEST_BREAK:g} s ago: grace periods begin anew"
    say(told)
    return found.resumed(now, None)


def _converted(document: object, name: str, kind: type[Any]) -> Any:  # noqa: ANN401 - of the kind
    try:
        return decode_yaml_value(document, kind)
    except DecodeError as error:
        raise InputError(f"{name}: {error.path}: {error.reason}") from error


def _named(option: str, path: Path) -> str:
    """A file as errors call it."""
    return f"{option} {printable(str(path))}"
