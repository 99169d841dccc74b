"""The quick selection of attacks. How fast healthy callers are served meanwhile is no matter of a
test that shares its machine: `make attack` tells that.
"""

import pytest

from tests.attack.attacks import ATTACKS
from tests.attack.cgroup import why_not
from tests.attack.running import run_attack
from tests.attack.stage import stage

SECONDS = 3.0
PENDING = 500


@pytest.mark.process
async def test_whoever_attacks_stops_neither_process_and_keeps_nobody_else_from_an_answer() -> None:
    if reason := why_not():
        pytest.skip(reason)
    failed: dict[str, list[str]] = {}
    async with stage() as found:
        await found.pend(PENDING)
        for name in (name for name, attack in ATTACKS.items() if attack.is_quick):
            failed[name] = (await run_attack(found, name, SECONDS)).failed()
            await found.mend()
    assert not {name: texts for name, texts in failed.items() if texts}
