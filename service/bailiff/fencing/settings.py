"""The file that tells how machines are asked whether they are off, and which node is which machine.

It is written by whoever runs the cluster, and may run programs: whoever may write to it is as
powerful as the worker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from bailiff.kinds import DecodeError
from bailiff.kinds.meta import Value
from bailiff.kinds.yaml_text import parse_yaml

# What may stand for a placeholder: no character by which an argument becomes an option, or an
# address another host or path. The first is a letter or a digit; `$` would let a line end follow.
FIELD = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,252}\Z"
_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_]*)\}")

Field = Annotated[str, Meta(pattern=FIELD)]
Text = Annotated[str, Meta(max_length=4096)]
Line = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^\S(.*\S)?\Z")]
PathText = Annotated[str, Meta(min_length=1, max_length=4096)]
Seconds = Annotated[float, Meta(gt=0, le=300)]
ExitCode = Annotated[int, Meta(ge=0, le=255)]


class FenceFileError(ValueError):
    """The file cannot be used; the message names the field, and what is allowed."""


class CommandHook(Value, frozen=True, forbid_unknown_fields=True):
    """A program that is run, without a shell.

    Attributes:
        argv: the program and its arguments, with placeholders.
        stdin: written to its standard input as `key=value`, a line each, as fence agents read it.
        stdin_files: the same with the content of files, which is secret and read each time.
        on_codes: exit codes by which the machine is on. 0: as fence agents have it. No field is
            called `on` or `off`, which YAML takes for true and false.
        off_codes: those by which it is off, if the program says so in words, too. 2: as fence
            agents have it; but an interpreter ends with that as well where its script is missing.
        says: lines of which one has to stand in the output where it is off. `Status: OFF`: as fence
            agents print it.
    """

    argv: Annotated[tuple[Text, ...], Meta(min_length=1, max_length=100)]
    stdin: Mapping[str, Text] = {}
    stdin_files: Mapping[str, PathText] = {}
    on_codes: tuple[ExitCode, ...] = (0,)
    off_codes: tuple[ExitCode, ...] = (2,)
    says: Annotated[tuple[Line, ...], Meta(min_length=1, max_length=20)] = ("Status: OFF",)


class HttpHook(Value, frozen=True, forbid_unknown_fields=True):
    """A server that is asked by GET, as a baseboard controller that speaks Redfish.

    Attributes:
        url: with placeholders.
        pointer: to the value in the JSON of the answer (RFC 6901).
        off_values: the values by which the machine is off; any other is no proof, as `PoweringOff`.
        username_file: for basic authentication, with `password_file`; read each time.
        password_file: see there.
        token_file: of a bearer token; read each time.
        ca_file: certificates in PEM that vouch for the server; absent: the system's.
        insecure: take whatever certificate it shows.
    """

    url: Text
    pointer: Text = "/PowerState"
    off_values: Annotated[tuple[Text, ...], Meta(min_length=1, max_length=20)] = ("Off",)
    username_file: Text = ""
    password_file: Text = ""
    token_file: Text = ""
    ca_file: Text = ""
    insecure: bool = False


class FenceFile(Value, frozen=True, forbid_unknown_fields=True):
    """The whole file.

    Attributes:
        command: a program; exactly one of this and `http` is there.
        http: a server.
        deadline: seconds for one question, all of it.
        machines: by node, what stands for placeholders there, such as `address`. `{node}` is the
            node's name. A node that is not here is not asked about.
    """

    machines: Mapping[str, Mapping[str, Field]]
    command: CommandHook | None = None
    http: HttpHook | None = None
    deadline: Seconds = 20.0


def fence_in(data: bytes) -> FenceFile:
    """What a file says, as YAML or JSON.

    Raises:
        FenceFileError: see there.
    """
    try:
        file = msgspec.convert(parse_yaml(data), FenceFile)
    except (DecodeError, msgspec.ValidationError) as error:
        raise FenceFileError(str(error)) from error
    if (file.command is None) is (file.http is None):
        raise FenceFileError("$: exactly one of command and http is required")
    if file.http is not None:
        _check_http(file.http)
    for template in _templates(file):
        _check_placeholders(template, file)
    return file


def filled(template: str, node: str, fields: Mapping[str, str]) -> str:
    """With what stands for its placeholders; those have been checked."""
    known = {**fields, "node": node}
    return _PLACEHOLDER.sub(lambda found: known.get(found[1], ""), template)


def _templates(file: FenceFile) -> list[str]:
    if file.command is not None:
        return [*file.command.argv, *file.command.stdin.values()]
    return [] if file.http is None else [file.http.url]


def _check_placeholders(template: str, file: FenceFile) -> None:
    for name in _PLACEHOLDER.findall(template):
        lacking = [node for node, fields in file.machines.items() if name not in fields]
        if name != "node" and lacking:
            where = f"$.machines.{lacking[0]}.{name}"
            raise FenceFileError(f"{where}: required, since {{{name}}} stands in {template!r}")


def _check_http(http: HttpHook) -> None:
    found = urlsplit(http.url)
    if found.scheme not in ("http", "https") or not found.netloc or "@" in found.netloc:
        raise FenceFileError("$.http.url: must be http://HOST... or https://HOST..., without login")
    if http.pointer and not http.pointer.startswith("/"):
        raise FenceFileError("$.http.pointer: must be empty or begin with / (RFC 6901)")
    if bool(http.username_file) is not bool(http.password_file):
        raise FenceFileError("$.http: usernameFile and passwordFile are needed together")
    if http.token_file and http.username_file:
        raise FenceFileError("$.http: tokenFile and usernameFile exclude each other")
