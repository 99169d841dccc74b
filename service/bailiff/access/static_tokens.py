"""Callers and their tokens out of a file, in the form of kube-apiserver's --token-auth-file.

A line is `token,user,uid` and may have a fourth column: the groups, within quotes and separated by
commas (k8s.io/apiserver/pkg/authentication/token/tokenfile). Unlike there the file is read again
when it changes. A file that cannot be used then changes nothing: the tokens that were in it hold
until it can.
"""

from __future__ import annotations

import asyncio
import csv
import os
import stat
from typing import TYPE_CHECKING

import structlog

from bailiff.access.bearer import digest
from bailiff.access.callers import known_here

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bailiff.access.callers import Caller

# Seconds between two looks at the file.
LOOK_EVERY = 5.0
# Of the file, in bytes: some 10,000 callers.
MAX_BYTES = 1024 * 1024

log = structlog.get_logger(__name__)


class TokenFileError(Exception):
    """The file cannot be used; the message says why, and holds no token."""


class StaticTokens:
    """The tokens of one file, known by their digests alone."""

    def __init__(self, path: Path, look_every: float = LOOK_EVERY) -> None:
        """Read them.

        Args:
            path: of the file, at most 1 MiB.
            look_every: seconds between two looks at it.

        Raises:
            TokenFileError: it cannot be used.
        """
        self._path = path
        self._look_every = look_every
        content = _read(path)
        self._seen: bytes | str = content
        self._callers = parse(content)

    def find(self, token_digest: bytes) -> Caller | None:
        """Whose token has this digest; None: nobody's here."""
        return self._callers.get(token_digest)

    async def run(self) -> None:
        """Look at the file until cancelled; warns where everybody on this machine may read it.

        A change counts once two looks have shown the same: a file that is written in place may be
        seen half written.
        """
        before: bytes | str = self._seen
        if await asyncio.to_thread(_is_open_to_all, self._path):
            log.warning("everybody on this machine may read the tokens", file=str(self._path))
        while True:
            await asyncio.sleep(self._look_every)
            seen = await asyncio.to_thread(_see, self._path)
            if seen == before != self._seen:
                self._seen = seen
                error = self._take(seen)
                if error:
                    log.error("tokens not changed", file=str(self._path), error=error)
            before = seen

    def _take(self, seen: bytes | str) -> str:
        """Know these from now on; or why not."""
        if isinstance(seen, str):
            return seen
        try:
            self._callers = parse(seen)
        except TokenFileError as error:
            return str(error)
        log.info("tokens read", file=str(self._path), callers=len(self._callers))
        return ""


def parse(content: bytes) -> Mapping[bytes, Caller]:
    """The callers, by the digests of their tokens.

    Raises:
        TokenFileError: a line is not in the form, or there is none.
    """
    try:
        lines = content.decode().splitlines()
        rows = [
            (number, row) for number, row in enumerate(csv.reader(lines, strict=True), 1) if row
        ]
    except (csv.Error, UnicodeDecodeError) as error:
        # Python's words would quote what cannot be decoded, which may be a token.
        raise TokenFileError('is not CSV in UTF-8: token,user,uid,"group1,group2"') from error
    callers: dict[bytes, Caller] = {}
    for number, row in rows:
        token, caller = _caller(number, row)
        if callers.setdefault(token, caller) is not caller:
            raise TokenFileError(f"entry {number}: its token has been given to another caller")
    if not callers:
        raise TokenFileError("has no token")
    return callers


def _caller(number: int, row: list[str]) -> tuple[bytes, Caller]:
    if len(row) not in (3, 4):
        raise TokenFileError(f"entry {number}: must be token,user,uid or have the groups besides")
    token, name, uid, *others = (column.strip() for column in row)
    if not token or not name:
        raise TokenFileError(f"entry {number}: token and user must not be empty")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise TokenFileError(
            f"entry {number}: a token cannot be sent that has spaces or is not ASCII"
        )
    groups = tuple(filter(None, (one.strip() for one in "".join(others).split(","))))
    return digest(token.encode()), known_here(name, uid, groups)


def _see(path: Path) -> bytes | str:
    """The content; as text, why it cannot be had."""
    try:
        return _read(path)
    except TokenFileError as error:
        return str(error)


def _read(path: Path) -> bytes:
    try:
        # Without O_NONBLOCK the opening of a FIFO waits for its other end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return _content(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise TokenFileError(error.strerror or str(error)) from error


def _content(descriptor: int) -> bytes:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise TokenFileError("not a regular file")
    content = b""
    while len(content) <= MAX_BYTES and (piece := os.read(descriptor, MAX_BYTES + 1)):
        content += piece
    if len(content) > MAX_BYTES:
        raise TokenFileError(f"larger than {MAX_BYTES} bytes")
    return content


def _is_open_to_all(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & stat.S_IROTH)
    except OSError:
        return False
