"""Callers and their tokens out of a file, in the form of kube-apiserver's --token-auth-file.

A line is `token,user,uid` and may have a fourth column: the groups, within quotes and separated by
commas (k8s.io/apiserver/pkg/authentication/token/tokenfile). Unlike there the file is read again
when it changes. A file that cannot be used then changes nothing: the tokens that were in it hold
until it can.
"""

from __future__ import annotations

import asyncio
import csv
import stat
from typing import TYPE_CHECKING

import structlog

from bailiff.access.bearer import digest
from bailiff.access.callers import known_here
from bailiff.file_watch import LOOK_EVERY, FileWatch, see

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bailiff.access.callers import Caller

log = structlog.get_logger(__name__)


class TokenFileError(Exception):
    """The file cannot be used; the message says why, and holds no token."""


class StaticTokens:
    """The tokens of one file, known by their digests alone."""

    def __init__(self, path: Path, look_every: float = LOOK_EVERY) -> None:
        """Read them.

        Args:
            path: of the file, at most 1 MiB: some 10,000 callers.
            look_every: seconds between two looks at it, above 0.

        Raises:
            TokenFileError: it cannot be used.
        """
        self._path = path
        self._watch = FileWatch(lambda: see(path), look_every)
        found = _interpret(self._watch.seen)
        if isinstance(found, str):
            raise TokenFileError(found)
        self._callers = found

    def find(self, token_digest: bytes) -> Caller | None:
        """Whose token has this digest; None: nobody's here."""
        return self._callers.get(token_digest)

    async def run(self) -> None:
        """Look at the file until cancelled; warns where everybody on this machine may read it."""
        if await asyncio.to_thread(_is_open_to_all, self._path):
            log.warning("everybody on this machine may read the tokens", file=str(self._path))
        while True:
            self._take(await self._watch.change())

    def _take(self, sight: bytes | str) -> None:
        """Know these from now on, where they can be used."""
        found = _interpret(sight)
        if isinstance(found, str):
            log.error("tokens not changed", file=str(self._path), error=found)
            return
        self._callers = found
        log.info("tokens read", file=str(self._path), callers=len(found))


def _interpret(sight: bytes | str) -> Mapping[bytes, Caller] | str:
    """The callers, by the digests of their tokens; as text, why there are none."""
    if isinstance(sight, str):
        return sight
    try:
        return parse(sight)
    except TokenFileError as error:
        return str(error)


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


def _is_open_to_all(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & stat.S_IROTH)
    except OSError:
        return False
