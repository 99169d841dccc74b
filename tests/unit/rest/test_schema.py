"""Property-based requests made from the document: no 5xx, no answer that it does not tell of."""

from typing import Any

import pytest
import schemathesis
from prometheus_client import CollectorRegistry

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


@pytest.mark.schema
@SCHEMA.parametrize()
@fuzzed(60, derandomize=True)
def test_every_operation_keeps_its_word(case: Any) -> None:
    case.call_and_validate()
