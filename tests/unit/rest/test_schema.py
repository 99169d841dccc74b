"""Property-based requests made from the document: no 5xx, no answer that it does not tell of."""

from typing import Any

import pytest
import schemathesis
from prometheus_client import CollectorRegistry
from schemathesis.specs.openapi.checks import positive_data_acceptance

from bailiff.decisions import Options
from bailiff.rest_api import RestSettings, create_app
from tests.harness.faces.rest_face import CLOCK, DictReader
from tests.harness.fuzzing import fuzzed
from tests.harness.kinds import node_of, pod_of

READER = DictReader(
    pods={"default/web-0": pod_of("web-0")},
    nodes={"node-1": node_of("node-1")},
    on_node={"node-1": ()},
)
APP = create_app(RestSettings(), CLOCK, CollectorRegistry(), Options(), READER)
SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", APP)


# What a body must hold at least one of, which a schema that generators understand cannot say.
WANTED = {
    "decide": ("node", "resourceClaims", "resourceSlices", "deviceTaintRules"),
    "decideDeviceTaints": ("pods", "resourceClaims"),
    "previewTaintChange": ("addTaints", "removeTaints"),
}


def asks_nothing(case: Any) -> bool:
    """Whether a body is of the right shape and asks nothing."""
    wanted = WANTED.get(case.operation.definition.raw.get("operationId"))
    if wanted is None or not isinstance(case.body, dict):
        return False
    return not any(case.body.get(name) not in (None, []) for name in wanted)


@pytest.mark.schema
@SCHEMA.parametrize()
@fuzzed(60, derandomize=True)
def test_every_operation_keeps_its_word(case: Any) -> None:
    rejected = [positive_data_acceptance] if asks_nothing(case) else []
    case.call_and_validate(excluded_checks=rejected)
