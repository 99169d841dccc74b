"""The quick variant of `make chaos`."""

import pytest

from tests.chaos.__main__ import run, show
from tests.chaos.plan import QUICK
from tests.harness.kube.programs import WHY_NOT, assets

SEED = 20


@pytest.mark.kube_apiserver
@pytest.mark.process
def test_nothing_is_lost_early_twice_or_mistaken():
    if assets() is None:
        pytest.skip(WHY_NOT)
    verdicts, told = run(QUICK, SEED)
    show(verdicts, told)
    assert told.facts["watches that met 410 Gone"] > 0
    assert all(found.good for found in verdicts.values())
