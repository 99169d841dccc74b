"""Baseboard controllers that are programs: IPMI by openipmi's ipmi_sim, Redfish by sushy-tools."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import bcrypt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

IPMI_PROGRAMS = ("ipmi_sim", "fence_ipmilan", "ipmitool")
SYSTEM = "27946b59-9e44-4fa7-8e91-f3527a1ef094"
USER, PASSWORD = "admin", "s3cret-of-test"

_LAN = """
name "bmc"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 {port}
    priv_limit admin
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "{chassis}"
  user 2 true "{user}" "{password}" admin 10 none md2 md5 straight
"""
_EMULATED = """
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
mc_enable 0x20
"""
# Called with `get NAME...`; `power` is what the file says, anything else 0.
_CHASSIS = """#!/bin/sh
[ "$1" = get ] && shift
for name in "$@"; do
  case "$name" in power) echo "power:$(cat '{power}')";; *) echo "$name:0";; esac
done
"""


def lacking_for_ipmi() -> str:
    """Why IPMI cannot be tried here; empty if it can."""
    path = "/usr/sbin:/sbin:/usr/bin:/bin"
    lacking = [one for one in IPMI_PROGRAMS if shutil.which(one, path=path) is None]
    return f"not on this machine: {', '.join(lacking)}: see CONTRIBUTING.md" if lacking else ""


class Machine:
    """A machine's controller.

    Attributes:
        port: on loopback.
    """

    def __init__(self, port: int, process: asyncio.subprocess.Process, power: Path) -> None:
        self.port = port
        self._process = process
        self._power = power

    def switch(self, *, on: bool) -> None:
        self._power.write_text("1" if on else "0")

    def hang(self) -> None:
        """It answers no more, though its port is open."""
        self._process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        self._process.send_signal(signal.SIGCONT)


@contextlib.asynccontextmanager
async def ipmi_machine(folder: Path, port: int) -> AsyncIterator[Machine]:
    """A machine that is on, with an IPMI controller on this UDP port."""
    power, chassis, state = folder / "power", folder / "chassis", folder / "state"
    state.mkdir()
    chassis.write_text(_CHASSIS.format(power=power))
    chassis.chmod(0o755)
    lan, emulated = folder / "lan.conf", folder / "emulated"
    lan.write_text(_LAN.format(port=port, chassis=chassis, user=USER, password=PASSWORD))
    emulated.write_text(_EMULATED)
    command = ["ipmi_sim", "-n", "-c", str(lan), "-f", str(emulated), "-s", str(state)]
    async with _running(command) as process:
        machine = Machine(port, process, power)
        machine.switch(on=True)
        await _until_answered(["ipmitool", *_ipmi_login(port), "mc", "info"])
        yield machine


def _ipmi_login(port: int) -> list[str]:
    return [*["-I", "lanplus", "-H", "127.0.0.1", "-p"], str(port), "-U", USER, "-P", PASSWORD]


@contextlib.asynccontextmanager
async def redfish_machine(folder: Path, port: int) -> AsyncIterator[Machine]:
    """A machine that is off, with a Redfish controller on this TCP port that wants a login."""
    users = folder / "htpasswd"
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(rounds=4)).decode()
    users.write_text(f"{USER}:{hashed}\n")
    config = folder / "sushy.conf"
    config.write_text(
        f"SUSHY_EMULATOR_AUTH_FILE = {str(users)!r}\n"
        f"SUSHY_EMULATOR_STATE_DIR = {str(folder)!r}\n"
        "SUSHY_EMULATOR_FAKE_DRIVER = True\n"
    )
    program = str(Path(sys.executable).parent / "sushy-emulator")
    where = ["-i", "127.0.0.1", "-p", str(port)]
    async with _running([program, "--fake", "--config", str(config), *where]) as process:
        await _until_open(port)
        yield Machine(port, process, folder / "unused")


@contextlib.asynccontextmanager
async def _running(command: Sequence[str]) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        await process.wait()


async def _until_answered(command: Sequence[str]) -> None:
    async with asyncio.timeout(30):
        while True:
            process = await asyncio.create_subprocess_exec(
                *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
            )
            if await process.wait() == 0:
                return
            await asyncio.sleep(0.1)


async def _until_open(port: int) -> None:
    async with asyncio.timeout(30):
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.1)
