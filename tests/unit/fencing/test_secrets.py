"""What is told of a question to the fence holds no secret, wherever the text is cut."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import shlex
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import aiohttp
import pytest
from aiohttp import web

from bailiff.clock import SystemClock
from bailiff.fencing import FenceFileError, FileFence, fence_in
from bailiff.fencing.answers import without
from tests.harness.scripted_server import serving

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.decisions.node_loss.facts import OffProof

USER = "admin"
PASSWORD = "S3cret-Passw0rd"


async def asked(folder: Path, hook: dict[str, Any], secret: str = PASSWORD) -> OffProof:
    (folder / "password").write_text(secret + "\n")
    (folder / "username").write_text(USER + "\n")
    file = folder / "fence.json"
    file.write_text(json.dumps({**hook, "machines": {"n1": {}}}))
    return await FileFence(file, SystemClock(), settles_in=0).ask("n1")


def printing(text: str, code: int, folder: Path) -> dict[str, Any]:
    program = f"import sys; print('Status: OFF'); print({text!r}); sys.exit({code})"
    stdin_files = {"password": str(folder / "password")}
    return {"command": {"argv": [sys.executable, "-c", program], "stdinFiles": stdin_files}}


def by_password(port: int, folder: Path) -> dict[str, Any]:
    files = {"usernameFile": str(folder / "username"), "passwordFile": str(folder / "password")}
    return {"http": {"url": f"http://127.0.0.1:{port}/", **files}}


def power_state(value: str) -> Any:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"PowerState": value})

    return answer


@pytest.mark.parametrize("before", [0, 150, 190, 195, 199, 200])
async def test_no_part_of_a_secret_that_a_program_repeats_is_told(tmp_path, before):
    proof = await asked(tmp_path, printing("x" * before + PASSWORD, 2, tmp_path))
    assert proof.off
    assert PASSWORD[:1] not in proof.message.partition("exit code 2: ")[2]


@pytest.mark.parametrize("before", [0, 300, *range(340, 400, 5)])
async def test_no_part_of_a_secret_that_a_server_repeats_is_told(tmp_path, before):
    async with serving(power_state("x" * before + PASSWORD)) as port:
        proof = await asked(tmp_path, by_password(port, tmp_path))
    assert not proof.off
    assert PASSWORD[:1] not in proof.message.partition(" is ")[2]


@pytest.mark.parametrize("secret", ['it\'s-a-"secret"', "back\\slash"])
async def test_a_secret_that_would_be_escaped_is_not_told(tmp_path, secret):
    async with serving(power_state(secret)) as port:
        proof = await asked(tmp_path, by_password(port, tmp_path), secret)
    assert proof.message.endswith(" is '***'")


async def test_the_login_is_not_told_in_base64_either(tmp_path):
    encoded = aiohttp.encode_basic_auth(USER, PASSWORD).partition(" ")[2]
    async with serving(power_state(encoded)) as port:
        proof = await asked(tmp_path, by_password(port, tmp_path))
    assert proof.message.endswith(" is '***'")


async def test_no_part_of_a_login_is_told_that_a_server_repeats_in_a_header_too_long(tmp_path):
    async def repeating(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        login = next(one for one in asked.split(b"\r\n") if one.startswith(b"Authorization"))
        writer.write(b"HTTP/1.1 200 OK\r\nX-Echo: " + login + b"x" * 20_000 + b"\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(repeating, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        proof = await asked(tmp_path, by_password(port, tmp_path))
    assert not proof.off
    encoded = aiohttp.encode_basic_auth(USER, PASSWORD).partition(" ")[2]
    assert encoded[:6] not in proof.message
    assert "no answer in HTTP" in proof.message


def parted(secret: str) -> str:
    return secret[:4] + "\x07" + secret[4:]


FORMS = {
    "as it is": str,
    "parted by what is not printable": parted,
    "in base64": lambda one: base64.b64encode(one.encode()).decode(),
    "in an address": lambda one: quote(one, safe=""),
    "in JSON": lambda one: json.dumps(one)[1:-1],
    "for a shell": shlex.quote,
    "in HTML": html.escape,
    "as Python shows it": lambda one: repr(one)[1:-1],
    "in a form": quote_plus,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
async def test_in_no_form_is_a_secret_told_that_a_program_repeats(tmp_path, form):
    secret = "S3cret\"/' Passw0rd "
    proof = await asked(tmp_path, printing(form(secret), 1, tmp_path), secret)
    assert proof.message.endswith("exit code 1: ***")


def test_a_secret_that_begins_as_another_one_leaves_nothing_of_it():
    assert without(["abc", "", "abcdef"], "abcdef abc") == "*** ***"


@pytest.mark.parametrize(
    "value", ["-o", "a\n", "a\nb", "a/b", "a@b", "a?b", "a#b", "a%2f", "..", ""]
)
def test_a_field_that_could_be_more_than_a_value_is_refused(value):
    file = {"machines": {"n1": {"address": value}}, "command": {"argv": ["x", "{address}"]}}
    with pytest.raises(FenceFileError, match="machines"):
        fence_in(json.dumps(file).encode())
