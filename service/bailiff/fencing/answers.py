"""What whoever was asked about a machine has said."""

from __future__ import annotations

import base64
import html
import json
import shlex
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, quote_plus

from bailiff.file_watch import see

# Bytes: of a password, a token or a name.
_LONGEST_SECRET = 16 * 1024


class Answer(NamedTuple):
    """An answer.

    Attributes:
        off: the machine is off.
        by: who has said so, `command` or `http`.
        message: in its words.
    """

    off: bool
    by: str
    message: str


class NoProofError(Exception):
    """It is not proven that the machine is off; the message says why, without a secret."""


def secret_in(path: str) -> str:
    """What a file holds, which is one line, without the line end that editors leave.

    Raises:
        NoProofError: it cannot be read, or has several lines.
    """
    content = see(Path(path), _LONGEST_SECRET)
    if isinstance(content, str):
        raise NoProofError(f"{path}: {content}")
    try:
        found = content.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise NoProofError(f"{path}: not UTF-8") from None
    if not found.isprintable():
        raise NoProofError(f"{path}: must be one line of printable text")
    return found


def without(secrets: list[str], text: str) -> str:
    """A text in which no secret stands, in case that somebody has repeated it, in whatever form.

    It must be whole: of a text that was cut before, the beginning of a secret would be left.
    """
    forms = {form for one in filter(None, secrets) for form in _forms(one)}
    # The longest first: one that begins as another does would leave its end.
    for one in sorted(forms, key=len, reverse=True):
        text = text.replace(one, "***")
    return text


def _forms(secret: str) -> set[str]:
    """As it is, and as programs write it: quoted, escaped, in an address, in a login."""
    encoded = base64.b64encode(secret.encode()).decode()
    in_addresses = quote(secret, safe=""), quote(secret), quote_plus(secret)
    escaped = json.dumps(secret)[1:-1], repr(secret)[1:-1], shlex.quote(secret), html.escape(secret)
    return {secret, secret.strip(), encoded, *in_addresses, *escaped} - {""}
