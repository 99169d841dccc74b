"""`bailiff explain node/NAME --pressure` where a kubelet answers otherwise than it should."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bailiff.cli.app import app
from tests.harness.measured_node import CONFIGZ, NOW, PATH, SUMMARY, MeasuredNode


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[MeasuredNode, Path]]:
    node = MeasuredNode()
    async with node.served(tmp_path) as kubeconfig:
        yield node, kubeconfig


async def explained(kubeconfig: Path, *words: str) -> Result:
    arguments = ["explain", "node/node-1", "--pressure", "--now", NOW, *words]
    return await asyncio.to_thread(
        CliRunner().invoke, app, [*arguments, "--kubeconfig", str(kubeconfig)]
    )


async def test_who_goes_by_what_the_kubelet_measures_and_is_set_to(
    served: tuple[MeasuredNode, Path],
) -> None:
    node, kubeconfig = served
    found = await explained(kubeconfig)
    assert found.exit_code == 0, found.output
    assert "default/batch-0 goes within 1 s: The node was low on resource: memory." in found.stdout
    assert found.stderr == "thresholds: the kubelet's own, by its /configz\n"
    assert node.asked == [PATH, "/api/v1/pods", SUMMARY, CONFIGZ]


async def test_without_its_configuration_the_defaults_count_and_that_is_said(
    served: tuple[MeasuredNode, Path],
) -> None:
    node, kubeconfig = served
    node.told[CONFIGZ] = 403
    found = await explained(kubeconfig)
    assert found.exit_code == 0, found.output
    # 100Mi by default, and 300Mi are left.
    assert "nobody goes: no threshold is met" in found.stdout
    assert found.stderr.startswith("thresholds: the kubelet's defaults, since it does not tell")
    assert "not you" in found.stderr


async def test_to_rank_takes_no_configuration(served: tuple[MeasuredNode, Path]) -> None:
    node, kubeconfig = served
    found = await explained(kubeconfig, "--signal", "pid.available")
    assert found.exit_code == 0, found.output
    assert (found.stderr, CONFIGZ in node.asked) == ("", False)
    assert "2       default     batch-0" in found.stdout


@pytest.mark.parametrize(
    ("path", "told", "said"),
    [
        (SUMMARY, 403, "not you"),
        (SUMMARY, 503, "not you"),
        (SUMMARY, b"{", "the answer is no summary"),
        (SUMMARY, {"node": {"nodeName": "node-2"}}, "the summary is of the node 'node-2'"),
        (CONFIGZ, b"<html>", "/configz of node-1 is no configuration"),
    ],
)
async def test_what_is_not_told_is_guessed_by_nobody(
    served: tuple[MeasuredNode, Path], path: str, told: object, said: str
) -> None:
    node, kubeconfig = served
    node.told[path] = told
    found = await explained(kubeconfig)
    assert found.exit_code != 0
    assert said in found.output
    assert "batch-0" not in found.output
