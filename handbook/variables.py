"""The reference of variables of the environment that have no option."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.access.settings import AccessSettings
from bailiff.grpc_api import GrpcSettings
from bailiff.rest_api import RestSettings
from bailiff.serving import Bounds, EdgeSettings
from handbook.text import attributes, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.face_settings import EnvironmentSettings

HEAD = """<!-- Written by `make reference`: do not edit. -->
# Variables of the environment

Most settings are [options](options.md), and each option is a variable, too. The variables on this
page have no option. They bound what callers may take of a process. Change one only if a limit is
in your way. `make reference` writes the page from the settings themselves. A value that is not
allowed ends the start with [exit code 2](exit-codes.md), and the error names the variable.
"""
_LOGS = (
    (
        "BAILIFF_LOG_FORMAT",
        "`text` on a terminal, else `json`",
        "Form of a line: `text` or `json`.",
    ),
    ("BAILIFF_LOG_LEVEL", "`info`", "Least level: `debug`, `info`, `warning`, `error`."),
)
SETTINGS: dict[str, type[EnvironmentSettings]] = {
    "All HTTP ports": EdgeSettings,
    "REST": RestSettings,
    "gRPC": GrpcSettings,
    "Callers": AccessSettings,
}
# Settings that are options as well.
_OPTIONS = {"host", "port"}


def page() -> str:
    """The whole page."""
    rows = {name: [*_rows(kind)] for name, kind in SETTINGS.items()}
    rows["Logs"] = [*_LOGS]
    heads = ("variable", "default", "meaning")
    parts = (f"## {name}\n\n{table(heads, found)}" for name, found in rows.items())
    return "\n".join([HEAD, *parts])


def _rows(kind: type[EnvironmentSettings]) -> Iterator[tuple[str, str, str]]:
    # The docstrings of faces refer to those of the bounds that they share.
    prefix, told = kind.model_config["env_prefix"], attributes(kind)
    told |= {
        name: text for name, text in attributes(Bounds).items() if "Bounds" in told.get(name, "")
    }
    for name, field in kind.model_fields.items():
        if name not in _OPTIONS:
            default = "" if field.default in ("", None) else f"`{field.default}`"
            text = told[name]
            yield f"`{prefix}{name.upper()}`", default, text[:1].upper() + text[1:]
