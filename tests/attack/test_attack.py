"""The quick selection of attacks. How fast healthy callers are served meanwhile is no matter of a
test that shares its machine: `make attack` tells that.
"""

import pytest

from tests.attack.attacks import ATTACKS
from tests.attack.cgroup import why_not
from tests.attack.running import run_attack
from tests.attack.stage import stage
from tests.harness.kube.programs import WHY_NOT, assets

SECONDS = 3.0
PENDING = 500


async def _failed(*, secured: bool) -> dict[str, list[str]]:
    failed: dict[str, list[str]] = {}
    quick = [name for name, one in ATTACKS.items() if one.is_quick and one.is_secured is secured]
    async with stage(secured=secured) as found:
        if any(ATTACKS[name].port.is_workers for name in quick):
            await found.pend(PENDING)
        for name in quick:
            failed[name] = (await run_attack(found, name, SECONDS)).failed()
            await found.mend()
    assert failed
    return {name: texts for name, texts in failed.items() if texts}


@pytest.mark.process
async def test_whoever_attacks_stops_neither_process_and_keeps_nobody_else_from_an_answer() -> None:
    if reason := why_not():
        pytest.skip(reason)
    assert not await _failed(secured=False)


@pytest.mark.process
@pytest.mark.kube_apiserver
async def test_nor_does_who_has_no_good_token_where_one_is_asked_for() -> None:
    if reason := why_not():
        pytest.skip(reason)
    if assets() is None:
        pytest.skip(WHY_NOT)
    assert not await _failed(secured=True)
