"""A program that tells by its exit code whether a machine is off, as fence agents do.

Source: the FenceAgentAPI of ClusterLabs' fence-agents: with the action `status` 0 is on, 2 is off,
and 1 is a failure; what is to be done is read from standard input as `key=value` lines.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from bailiff.cluster.subprocesses import ProgramError, run
from bailiff.fencing.answers import Answer, NoProofError, secret_in, without
from bailiff.fencing.settings import filled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.fencing.settings import CommandHook

_BY = "command"
# Bytes of output, of which the last line is told.
_MOST = 64 * 1024
# Characters of that line.
_LONGEST = 200
# A program is told where others are, and in which words to speak; none of our own variables.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ")


async def ask_command(hook: CommandHook, node: str, fields: Mapping[str, str]) -> Answer:
    """Run it once. Whoever cancels this ends the program with its process group.

    Raises:
        NoProofError: it cannot be run, or did not say that the machine is on or off.
    """
    argv = [filled(one, node, fields) for one in hook.argv]
    lines = {key: filled(value, node, fields) for key, value in hook.stdin.items()}
    secrets = await asyncio.to_thread(_secrets, hook.stdin_files)
    given = "".join(f"{key}={value}\n" for key, value in {**lines, **secrets}.items())
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    try:
        ended = await run(argv, environment, _MOST, given.encode(), errors_too=True)
    except ProgramError as error:
        raise NoProofError(f"{argv[0]}: {error}") from None
    except OSError as error:
        raise NoProofError(f"{argv[0]}: {error.strerror or type(error).__name__}") from None
    output = ended.output.decode(errors="replace")
    printed = _printable(output)
    # A secret may be parted by what is not printable, and has to be looked for without that.
    said = without([*secrets.values()], printed[-1]).strip()[:_LONGEST] if printed else ""
    told = f"{argv[0]}: exit code {ended.code}" + (f": {said}" if said else "")
    if ended.code in hook.off_codes and ended.code not in hook.on_codes:
        if not {one.strip() for one in output.splitlines()}.intersection(hook.says):
            raise NoProofError(f"{told}, but no line says {hook.says[0]!r}")
        return Answer(off=True, by=_BY, message=told)
    if ended.code in hook.on_codes:
        return Answer(off=False, by=_BY, message=told)
    raise NoProofError(told)


def _secrets(files: Mapping[str, str]) -> dict[str, str]:
    return {key: secret_in(path) for key, path in files.items()}


def _printable(output: str) -> list[str]:
    """Of the lines that hold anything, what can be printed; blanks may belong to a secret."""
    lines = ("".join(filter(str.isprintable, one)) for one in output.splitlines())
    return [one for one in lines if one.strip()]
