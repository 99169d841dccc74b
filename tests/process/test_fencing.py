"""Whether a machine is off, asked of controllers by the protocols that real ones speak."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from bailiff.clock import SystemClock
from bailiff.fencing import FileFence
from tests.harness.machines import (
    PASSWORD,
    SYSTEM,
    USER,
    Machine,
    ipmi_machine,
    lacking_for_ipmi,
    redfish_machine,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bailiff.decisions.node_loss.facts import OffProof

pytestmark = pytest.mark.process
needs_ipmi = pytest.mark.skipif(bool(lacking_for_ipmi()), reason=lacking_for_ipmi())
WRONG = "not-the-password"


def free_port(kind: int) -> int:
    with socket.socket(socket.AF_INET, kind) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Asked:
    """A fence by a file of a test."""

    def __init__(self, folder: Path, hook: dict[str, Any], machine: dict[str, str]) -> None:
        self.secret = folder / "password"
        self.secret.write_text(PASSWORD + "\n")
        file = folder / "fence.json"
        file.write_text(json.dumps({**hook, "machines": {"n1": machine}}))
        self._fence = FileFence(file, SystemClock())

    async def __call__(self) -> OffProof:
        return await self._fence.ask("n1")


@pytest.fixture
async def ipmi(tmp_path: Path) -> AsyncIterator[Machine]:
    async with ipmi_machine(tmp_path, free_port(socket.SOCK_DGRAM)) as machine:
        yield machine


def by_ipmi(folder: Path, machine: Machine, deadline: float = 60.0) -> Asked:
    told = {
        "ip": "{address}",
        "ipport": str(machine.port),
        "username": USER,
        "lanplus": "1",
        "action": "status",
    }
    secret = {"password": str(folder / "password")}
    command = {"argv": ["/usr/sbin/fence_ipmilan"], "stdin": told, "stdinFiles": secret}
    return Asked(folder, {"command": command, "deadline": deadline}, {"address": "127.0.0.1"})


@needs_ipmi
async def test_a_machine_is_on_and_then_off_by_ipmi(tmp_path, ipmi):
    asked = by_ipmi(tmp_path, ipmi)
    on = await asked()
    assert (on.off, on.by) == (False, "command")
    ipmi.switch(on=False)
    off = await asked()
    assert (off.off, off.by) == (True, "command")
    assert "Status: OFF" in off.message


@needs_ipmi
async def test_a_wrong_password_is_no_proof_by_ipmi_and_is_not_repeated(tmp_path, ipmi):
    ipmi.switch(on=False)
    asked = by_ipmi(tmp_path, ipmi)
    asked.secret.write_text(WRONG)
    said = await asked()
    assert said.off is False
    assert "exit code 1" in said.message
    assert WRONG not in said.message


@needs_ipmi
async def test_a_controller_that_hangs_is_no_proof_by_ipmi(tmp_path, ipmi):
    ipmi.switch(on=False)
    ipmi.hang()
    said = await by_ipmi(tmp_path, ipmi, deadline=2.0)()
    assert (said.off, said.message) == (False, "no answer within 2 s")
    ipmi.wake()


@pytest.fixture
async def redfish(tmp_path: Path) -> AsyncIterator[Machine]:
    async with redfish_machine(tmp_path, free_port(socket.SOCK_STREAM)) as machine:
        yield machine


def by_redfish(folder: Path, machine: Machine, deadline: float = 20.0) -> Asked:
    (folder / "user").write_text(USER)
    http = {
        "url": "http://{address}/redfish/v1/Systems/{system}",
        "usernameFile": str(folder / "user"),
        "passwordFile": str(folder / "password"),
    }
    where = {"address": f"127.0.0.1:{machine.port}", "system": SYSTEM}
    return Asked(folder, {"http": http, "deadline": deadline}, where)


async def switch_by_redfish(machine: Machine, action: str) -> None:
    url = f"http://127.0.0.1:{machine.port}/redfish/v1/Systems/{SYSTEM}"
    login = {"Authorization": aiohttp.encode_basic_auth(USER, PASSWORD)}
    async with aiohttp.ClientSession(headers=login) as session:
        reset = f"{url}/Actions/ComputerSystem.Reset"
        async with session.post(reset, json={"ResetType": action}) as response:
            assert response.status == 204
        async with asyncio.timeout(30):
            while True:
                async with session.get(url) as response:
                    state = (await response.json())["PowerState"]
                if state == ("On" if action == "On" else "Off"):
                    return
                await asyncio.sleep(0.1)


async def test_a_machine_is_off_and_then_on_by_redfish(tmp_path, redfish):
    asked = by_redfish(tmp_path, redfish)
    off = await asked()
    assert (off.off, off.by) == (True, "http")
    await switch_by_redfish(redfish, "On")
    on = await asked()
    assert on.off is False
    assert "'On'" in on.message


async def test_a_wrong_password_is_no_proof_by_redfish_and_is_not_repeated(tmp_path, redfish):
    asked = by_redfish(tmp_path, redfish)
    asked.secret.write_text(WRONG)
    said = await asked()
    assert said.off is False
    assert "status 401" in said.message
    assert WRONG not in said.message


async def test_a_controller_that_hangs_is_no_proof_by_redfish(tmp_path, redfish):
    redfish.hang()
    said = await by_redfish(tmp_path, redfish, deadline=1.0)()
    assert (said.off, said.message) == (False, "no answer within 1 s")
