"""Only a plain "it is off" is proof; whatever else happens proves nothing, and says why."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from bailiff.clock import SystemClock
from bailiff.fencing import FileFence, fence_in
from tests.harness.scripted_server import serving

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.decisions.node_loss.facts import OffProof


async def asked(folder: Path, hook: dict[str, Any], node: str = "n1") -> OffProof:
    file = folder / "fence.json"
    file.write_text(json.dumps({**hook, "machines": {"n1": {}}}))
    return await FileFence(file, SystemClock(), settles_in=0).ask(node)


def running(program: str, **fields: Any) -> dict[str, Any]:
    return {"command": {"argv": [sys.executable, "-c", program], **fields}}


def ending(code: int, prints: str = "Status: OFF", **fields: Any) -> dict[str, Any]:
    return running(f"print({prints!r}); raise SystemExit({code})", **fields)


async def answered(folder: Path, *answer: Any, **options: Any) -> OffProof:
    async def once(_: web.Request) -> web.Response:
        return web.Response(**options) if options else web.json_response(*answer)

    async with serving(once) as port:
        return await asked(folder, {"http": {"url": f"http://127.0.0.1:{port}/"}})


@pytest.mark.parametrize(("code", "off"), [(0, False), (1, False), (2, True), (3, False)])
async def test_exit_codes_are_those_of_fence_agents(tmp_path, code, off):
    proof = await asked(tmp_path, ending(code))
    assert proof.off is off
    assert f"exit code {code}" in proof.message


@pytest.mark.parametrize(
    "says", ["", "off", "Status: ON", "not Status: OFF", "Status: OFFLINE", "Status: O\u200bFF"]
)
async def test_a_code_without_the_word_proves_nothing(tmp_path, says):
    proof = await asked(tmp_path, ending(2, says))
    assert not proof.off
    assert "no line says 'Status: OFF'" in proof.message


async def test_an_interpreter_whose_script_is_missing_proves_nothing(tmp_path):
    """Which it ends with 2 for, too."""
    hook = {"command": {"argv": [sys.executable, str(tmp_path / "none.py")]}}
    proof = await asked(tmp_path, hook)
    assert not proof.off
    assert "exit code 2" in proof.message


async def test_the_word_may_be_another_and_stand_in_any_line(tmp_path):
    assert (
        await asked(tmp_path, ending(9, "Chassis off\nbye", offCodes=[9], says=["Chassis off"]))
    ).off


async def test_a_file_that_is_being_written_proves_nothing(tmp_path):
    """Cut off in the middle of an address it names another machine."""
    file = tmp_path / "fence.json"
    file.write_text(json.dumps({**ending(2), "machines": {"n1": {}}}))
    fence = FileFence(file, SystemClock(), settles_in=0.3)
    asking = asyncio.create_task(fence.ask("n1"))
    await asyncio.sleep(0.1)
    file.write_text(json.dumps({**ending(2), "machines": {"n1": {}, "n2": {}}}))
    proof = await asking
    assert (proof.off, "is being written" in proof.message) == (False, True)
    assert (await fence.ask("n1")).off


async def test_a_file_is_parsed_once_for_all_who_ask_and_again_when_it_has_changed(
    tmp_path, monkeypatch
):
    file = tmp_path / "fence.json"
    parsed = []

    def counting(data: bytes) -> Any:
        parsed.append(data)
        return fence_in(data)

    monkeypatch.setattr("bailiff.fencing.asking.fence_in", counting)
    fence = FileFence(file, SystemClock(), settles_in=0)
    file.write_text(json.dumps({**ending(2), "machines": {"n1": {}}}))
    found = await asyncio.gather(*(fence.ask("n1") for _ in range(4)))
    assert {one.off for one in found} == {True}
    file.write_text(json.dumps({**ending(0), "machines": {"n1": {}}}))
    assert not (await fence.ask("n1")).off
    assert len(parsed) == 2


async def test_a_code_that_means_both_proves_nothing(tmp_path):
    assert not (await asked(tmp_path, ending(2, onCodes=[2], offCodes=[2]))).off


async def test_a_program_that_a_signal_ended_proves_nothing(tmp_path):
    program = "print('Status: OFF', flush=True); import os; os.kill(os.getpid(), 2)"
    assert not (await asked(tmp_path, running(program, offCodes=[2, 130]))).off


async def test_a_program_that_hangs_proves_nothing(tmp_path):
    hook = {**running("import time; time.sleep(600)"), "deadline": 0.2}
    proof = await asked(tmp_path, hook)
    assert (proof.off, proof.message) == (False, "no answer within 0.2 s")


async def test_a_program_that_prints_without_end_proves_nothing(tmp_path):
    proof = await asked(tmp_path, running("print('Status: OFF\\n' * 10**6); raise SystemExit(2)"))
    assert not proof.off
    assert "bytes of output" in proof.message


async def test_a_program_that_is_not_there_proves_nothing(tmp_path):
    proof = await asked(tmp_path, {"command": {"argv": [str(tmp_path / "none")]}})
    assert not proof.off
    assert "No such file" in proof.message


async def test_all_fields_can_be_written_in_yaml_without_quotes(tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho Status: OFF\nexit 2\n")
    program.chmod(0o755)
    command = f"{{argv: [{program}, '{{node}}'], offCodes: [2], onCodes: [0]}}"
    file = tmp_path / "fence.yaml"
    file.write_text(f"deadline: 5\ncommand: {command}\nmachines: {{n1: {{}}}}\n")
    assert (await FileFence(file, SystemClock(), settles_in=0).ask("n1")).off


async def test_a_node_that_is_not_listed_proves_nothing(tmp_path):
    proof = await asked(tmp_path, ending(2), node="n2")
    assert (proof.off, proof.message) == (False, "no machine is known of node n2")


async def test_a_file_that_is_not_there_proves_nothing(tmp_path):
    proof = await FileFence(tmp_path / "none", SystemClock()).ask("n1")
    assert not proof.off
    assert "none" in proof.message


@pytest.mark.parametrize("state", ["On", "PoweringOn", "PoweringOff", "Paused", "off", "", "Off "])
async def test_no_other_word_than_off_is_proof(tmp_path, state):
    assert not (await answered(tmp_path, {"PowerState": state})).off


@pytest.mark.parametrize("answer", [{}, {"PowerState": None}, {"PowerState": ["Off"]}, ["Off"], 0])
async def test_nor_is_an_answer_of_another_shape(tmp_path, answer):
    assert not (await answered(tmp_path, answer)).off


async def test_off_is_proof(tmp_path):
    proof = await answered(tmp_path, {"PowerState": "Off"})
    assert (proof.off, proof.by) == (True, "http")


OFF = '{"PowerState": "Off"}'


@pytest.mark.parametrize("status", [201, 202, 301, 302, 307, 401, 403, 404, 500, 503])
async def test_only_200_counts_and_nobody_follows_a_redirect(tmp_path, status):
    proof = await answered(tmp_path, status=status, text=OFF, headers={"Location": "/"})
    assert not proof.off
    assert f"status {status}" in proof.message


@pytest.mark.parametrize("text", ["", "Off", OFF[:-1], OFF + " " * 2**16])
async def test_a_body_that_is_no_json_or_too_long_proves_nothing(tmp_path, text):
    assert not (await answered(tmp_path, text=text, content_type="application/json")).off


async def test_an_answer_that_says_it_twice_proves_nothing(tmp_path):
    twice = '{"PowerState": "On", "PowerState": "Off"}'
    proof = await answered(tmp_path, text=twice, content_type="application/json")
    assert (proof.off, proof.by) == (False, "http")
    assert "twice" in proof.message


async def test_who_was_asked_is_told_though_nothing_was_proven(tmp_path):
    assert (await asked(tmp_path, ending(1))).by == "command"


async def test_a_token_of_two_lines_is_told_of(tmp_path):
    token = tmp_path / "token"
    token.write_text("one\ntwo")
    hook = {"http": {"url": "http://127.0.0.1:9/", "tokenFile": str(token)}}
    assert "must be one line" in (await asked(tmp_path, hook)).message
