"""What stands in the files of the pressure mode, for the worker and for `explain pressure` alike.

What both refuse is told here, and all that is wrong in a file at once.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, TypeVar

from bailiff.decisions.pressure.configuring import NO_CONFIGURATION, read_configuration
from bailiff.decisions.pressure.extensions import NO_EXTENSIONS, PressureExtensions
from bailiff.file_watch import read_regular
from bailiff.kinds import DecodeError, decode_yaml_value
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.meta import Value
from bailiff.kinds.yaml_text import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from bailiff.decisions.pressure.configuration import ConfigurationError

Read = TypeVar("Read", bound=Value)
T = TypeVar("T")

# Bytes of a file that a person writes.
_LONGEST = 2**20

_FIELDS = KubeletConfiguration.__struct_encode_fields__
_OF_EVICTION = tuple(name for name in _FIELDS if name.startswith("eviction"))
# How alike names must be, as difflib counts it from 0 to 1.
_ALIKE = 0.85
# Of a name that an error quotes, and of what is told of one file.
_MOST_QUOTED = 100
_MOST_TOLD = 20
_ANOTHER = (
    "no KubeletConfiguration, and no answer to GET /configz: it has neither its kind nor a field "
    "that eviction reads, such as evictionHard"
)
# Where extensions stand in a question; a file has them alone.
_UNDER = "extensions."


class WrongFileError(ValueError):
    """A file is not what it is taken for.

    Attributes:
        wrong: each thing that is wrong, with its field, as `$.coolDown: ...`; one at least.
    """

    def __init__(self, wrong: Iterable[str]) -> None:
        found = list(wrong)
        more = [f"and {len(found) - _MOST_TOLD} more"] if len(found) > _MOST_TOLD else []
        self.wrong = (*found[:_MOST_TOLD], *more)
        super().__init__("\n".join(self.wrong))

    def of(self, name: str) -> str:
        """What to tell people, a line for each, with the option and the file in front."""
        return "\n".join(f"{name}: {one}" for one in self.wrong)


class FileUnusableError(ValueError):
    """A file cannot be used; the message names the option, the file, and all that is wrong."""


def read_file(option: str, path: Path, read: Callable[[object], T]) -> T:
    """What one of the functions here reads out of a file.

    Raises:
        FileUnusableError: it cannot be read, is too long, no YAML, or not what it is taken for.
    """
    name = f"{option}: {path}"
    try:
        data = read_regular(path, _LONGEST + 1)
        if len(data) > _LONGEST:
            raise FileUnusableError(f"{name}: longer than {_LONGEST:,} bytes")
        return read(parse_yaml(data))
    except WrongFileError as error:
        raise FileUnusableError(error.of(name)) from error
    except OSError as error:
        raise FileUnusableError(f"{name}: {error.strerror}") from error
    except DecodeError as error:
        raise FileUnusableError(f"{name}: {error.path}: {error.reason}") from error


def configuration_in(document: object) -> KubeletConfiguration:
    """Out of a KubeletConfiguration, or a kubelet's answer to GET /configz.

    A kubelet reads its file strictly. Of fields that eviction does not read none is known here, so
    of those that are unknown only such are refused as look like one that it reads: in its place
    the kubelet's defaults would count, unasked and for all nodes.

    Raises:
        WrongFileError: it is another object, or no kubelet would start with it.
    """
    if isinstance(document, dict) and "kubeletconfig" in document:
        document = document["kubeletconfig"]
    misspelt = list(_misspelt(document)) if isinstance(document, dict) else []
    if misspelt:
        raise WrongFileError(misspelt)
    if not isinstance(document, dict) or not _is_configuration(document):
        raise WrongFileError([_ANOTHER])
    found = _decoded(document, KubeletConfiguration)
    _check(read_configuration(found).errors)
    return found


def extensions_in(document: object) -> PressureExtensions:
    """Out of what no kubelet does; None, an empty file, is as good as `{}`: all of it is off.

    Raises:
        WrongFileError: it is another object, or says what cannot be.
    """
    if document is None:
        return NO_EXTENSIONS
    found = _decoded(document, PressureExtensions)
    _check(read_configuration(NO_CONFIGURATION, extensions=found).errors)
    return found


def _is_configuration(document: dict[Any, Any]) -> bool:
    kind = document.get("kind")
    if kind:
        return bool(kind == KubeletConfiguration.__name__)
    return any(document.get(name) is not None for name in _FIELDS)


def _misspelt(document: dict[Any, Any]) -> Iterator[str]:
    by_lower = {name.lower(): name for name in _FIELDS}
    for key in document:
        name = str(key)
        if name in _FIELDS:
            continue
        lower = name.lower()
        near = difflib.get_close_matches(name[:_MOST_QUOTED], _OF_EVICTION, n=1, cutoff=_ALIKE)
        meant = by_lower.get(lower) or next(iter(near), None)
        path = f"$.{name[:_MOST_QUOTED]}"
        if meant is not None:
            yield f"{path}: unknown field: is {meant} meant?"
        elif lower.startswith("eviction"):
            yield f"{path}: unknown field, of eviction are {', '.join(_OF_EVICTION)}"


def _decoded(document: object, kind: type[Read]) -> Read:
    try:
        return decode_yaml_value(document, kind)
    except DecodeError as error:
        raise WrongFileError(_each_wrong(document, kind) or [_told(error)]) from error


def _each_wrong(document: object, kind: type[Value]) -> list[str]:
    """What is wrong in each of the fields; the decoder stops at the first of all."""
    found = []
    for name, value in document.items() if isinstance(document, dict) else ():
        try:
            decode_yaml_value({name: value}, kind)
        except DecodeError as error:
            found.append(_told(error))
    return found


def _told(error: DecodeError) -> str:
    return f"{error.path}: {error.reason}"


def _check(errors: Iterable[ConfigurationError]) -> None:
    wrong = [f"$.{one.path.removeprefix(_UNDER)}: {one.reason}" for one in errors]
    if wrong:
        raise WrongFileError(wrong)
