"""`bailiff policies check`: is this file of policies one that a worker would take?"""

from __future__ import annotations

import re
import sys
from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiff.cli.errors import ExitCode, fail, warn_all
from bailiff.cli.help import Command
from bailiff.cli.output import OUTPUT, Output, pretty

if TYPE_CHECKING:
    from bailiff.decisions.policies import Policies

# Of the chart's ConfigMap.
_KEY = "policies.yaml"
_HOUR = re.compile(r"\d\d:\d\d")

app = typer.Typer(help="Files of policies, as `bailiff worker --policies` reads them.")


@app.callback()
def policies() -> None:
    """Files of policies, as `bailiff worker --policies` reads them."""


@app.command(cls=Command)
def check(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The file, YAML or JSON, or what holds it as a ConfigMap, as `helm template` "
            "prints it; - reads standard input.",
        ),
    ],
    output: Annotated[Output, OUTPUT] = Output.TEXT,
) -> None:
    """Validate a file, and show what would be in force, defaults filled in. Needs no cluster."""
    import yaml  # noqa: PLC0415 - here and below: only where it is needed

    from bailiff.decisions.policies import NO_POLICIES, crowding, fingerprint  # noqa: PLC0415
    from bailiff.decisions.policies.reading import API_VERSION, KIND, MAX_BYTES  # noqa: PLC0415
    from bailiff.policy_file import interpret, see  # noqa: PLC0415

    if str(file) == "-" and sys.stdin is None:
        fail("-: standard input is closed", ExitCode.USAGE)
    seen = sys.stdin.buffer.read(MAX_BYTES + 1) if str(file) == "-" else see(file)
    found = interpret(seen if isinstance(seen, str) else policies_in(seen))
    if isinstance(found, str):
        fail(f"{file}: {found}", ExitCode.USAGE)
    if found.over_time is not None:
        warn_all(list(crowding(found.over_time)))
    shown = {"apiVersion": API_VERSION, "kind": KIND} | effective(found)
    if output is Output.JSON:
        typer.echo(pretty(shown))
        return
    typer.echo(yaml.dump(shown, Dumper=_dumper(), sort_keys=False, allow_unicode=True), nl=False)
    if found == NO_POLICIES:
        typer.echo("# all policies are off")
    typer.echo(f"# hash {fingerprint(found)}")


def _dumper() -> type[Any]:
    """Writes all hours of windows alike: YAML 1.1 must quote 22:00, which is a number there."""
    import yaml  # noqa: PLC0415 - as above

    class Dumper(yaml.SafeDumper):
        def represent_str(self, text: str) -> yaml.ScalarNode:
            style = '"' if _HOUR.fullmatch(text) else None
            return self.represent_scalar("tag:yaml.org,2002:str", text, style)

    Dumper.add_representer(str, Dumper.represent_str)
    return Dumper


def policies_in(data: bytes) -> bytes | str:
    """The file itself, or what a ConfigMap among Kubernetes objects holds of it.

    As text, why there is none: there are several.
    """
    from bailiff.kinds import DecodeError  # noqa: PLC0415 - as above
    from bailiff.kinds.yaml_text import parse_yaml_documents  # noqa: PLC0415

    if b"ConfigMap" not in data:
        return data
    try:
        held = [text for one in parse_yaml_documents(data) if (text := _held_by(one)) is not None]
    except DecodeError:
        return data
    if len(held) > 1:
        return f"{len(held)} ConfigMaps hold {_KEY}: give one"
    return held[0].encode() if held else data


def _held_by(value: object) -> str | None:
    if not isinstance(value, dict) or value.get("kind") != "ConfigMap":
        return None
    data = value.get("data")
    text = data.get(_KEY) if isinstance(data, dict) else None
    return text if isinstance(text, str) else None


def effective(policies: Policies) -> dict[str, Any]:
    """The policies that are on, each with all that holds for it."""
    import msgspec  # noqa: PLC0415 - as above

    from bailiff.decisions.policies import NO_POLICIES  # noqa: PLC0415

    return {
        field.encode_name: _filled(getattr(policies, field.name))
        for field in msgspec.structs.fields(policies)
        if getattr(policies, field.name) != getattr(NO_POLICIES, field.name)
    }


def _filled(value: object) -> object:
    """The value as JSON has it, with its defaults; what is absent stays absent."""
    import msgspec  # noqa: PLC0415 - as above

    if isinstance(value, msgspec.Struct):
        named = {f.encode_name: getattr(value, f.name) for f in msgspec.structs.fields(value)}
        named |= _said_otherwise(value)
        return {name: _filled(item) for name, item in named.items() if item is not None}
    if isinstance(value, tuple):
        return [_filled(item) for item in value]
    filled: object = msgspec.to_builtins(value)
    return filled


def _said_otherwise(value: object) -> dict[str, Any]:
    """What reads wrong as it stands: a window of no days is open on all of them."""
    from bailiff.decisions.policies.settings import Weekday, Window  # noqa: PLC0415 - as above

    if isinstance(value, Window) and not value.days:
        return {"days": tuple(Weekday)}
    return {}
