"""A server that tells in JSON whether a machine is off, as a baseboard controller by Redfish.

Source: DMTF's Redfish (DSP0266) and its ComputerSystem schema: PowerState is On, Off, PoweringOn,
PoweringOff or Paused. A machine that is being switched off still runs.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from typing import TYPE_CHECKING, Any

import aiohttp

from bailiff.fencing.answers import Answer, NoProofError, secret_in, without
from bailiff.fencing.settings import filled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.fencing.settings import HttpHook

_BY = "http"
_MOST = 64 * 1024
_OK = 200


async def ask_http(hook: HttpHook, node: str, fields: Mapping[str, str]) -> Answer:
    """Ask once.

    Raises:
        NoProofError: it cannot be reached, refuses, or says nothing that could be read.
    """
    url = filled(hook.url, node, fields)
    login, secrets = await asyncio.to_thread(_login, hook)
    context = await asyncio.to_thread(_context, hook)
    try:
        body = await _body(url, login, context)
    except aiohttp.ClientConnectorError as error:
        raise NoProofError(without(secrets, f"{url}: {error}")) from None
    except aiohttp.ClientError as error:
        # Its words may quote a header that was cut, and with it a part of what was sent.
        raise NoProofError(f"{url}: no answer in HTTP ({type(error).__name__})") from None
    except OSError as error:
        raise NoProofError(f"{url}: {error.strerror or type(error).__name__}") from None
    value = _value_at(hook.pointer, body)
    # What is quoted may be escaped, so that a secret in it would not be found any more.
    shown = without(secrets, value) if isinstance(value, str) else value
    told = without(secrets, f"{url}: {hook.pointer} is {shown!r}")[:400]
    if not isinstance(value, str):
        raise NoProofError(told)
    return Answer(off=value in hook.off_values, by=_BY, message=told)


async def _body(url: str, login: Mapping[str, str], context: ssl.SSLContext | bool) -> bytes:
    connector = aiohttp.TCPConnector(ssl=context, force_close=True, limit=1)
    # The deadline is the caller's, over all of it.
    timeout = aiohttp.ClientTimeout(total=None)
    headers = {"Accept": "application/json", **login}
    async with (
        aiohttp.ClientSession(connector=connector, timeout=timeout, trust_env=False) as session,
        session.get(url, headers=headers, allow_redirects=False) as response,
    ):
        if response.status != _OK:
            raise NoProofError(f"{url}: status {response.status}")
        body = await response.content.read(_MOST + 1)
        while not response.content.at_eof() and len(body) <= _MOST:
            body += await response.content.read(_MOST + 1 - len(body))
    if len(body) > _MOST:
        raise NoProofError(f"{url}: an answer of more than {_MOST} bytes")
    return body


def _login(hook: HttpHook) -> tuple[dict[str, str], list[str]]:
    """The header that shows who asks, and what must not be repeated."""
    if hook.token_file:
        token = secret_in(hook.token_file)
        return {"Authorization": f"Bearer {token}"}, [token]
    if hook.username_file:
        name, password = secret_in(hook.username_file), secret_in(hook.password_file)
        encoded = aiohttp.encode_basic_auth(name, password)
        return {"Authorization": encoded}, [password, encoded.partition(" ")[2]]
    return {}, []


def _context(hook: HttpHook) -> ssl.SSLContext | bool:
    if not hook.url.startswith("https:"):
        return True
    try:
        context = ssl.create_default_context(cafile=hook.ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise NoProofError(f"{hook.ca_file}: no certificates: {error}") from None
    if hook.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _value_at(pointer: str, body: bytes) -> Any:  # noqa: ANN401 - of JSON
    """What a JSON pointer points to; None: nothing."""
    try:
        value: Any = json.loads(body, object_pairs_hook=_told_once)
    except (ValueError, RecursionError):
        raise NoProofError("the answer is no JSON") from None
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _told_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; one that says a thing twice may say two things, which proves nothing."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NoProofError("the answer has a field twice")
    return found
