"""Property-based requests made from the document: no 5xx, no answer that it does not tell of."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

from bailiff.decisions import SYSTEMS, FactsError, Options
from bailiff.kinds import DecodeError, decode
from bailiff.kinds.extender import ExtenderArgs, ExtenderPreemptionArgs
from bailiff.rest_api.extender import check_args, victims_of
from tests.harness.admission import app_of
from tests.harness.faces.rest_face import CLOCK, NOW
from tests.harness.fuzzing import fuzzed, is_fuzz
from tests.harness.kinds import node_of, pod_of
from tests.harness.lookups import DictSource
from tests.harness.tried import Tried

QUESTIONS = {f"/v1/{question.path}": question for question in SYSTEMS.questions.values()}


VERBS: dict[str, tuple[type[Any], Callable[[Any], object]]] = {
    f"/scheduler/extender/v1/{name}": (kind, check)
    for name, kind, check in (
        ("filter", ExtenderArgs, check_args),
        ("prioritize", ExtenderArgs, check_args),
        ("preempt", ExtenderPreemptionArgs, victims_of),
    )
}


def is_refused_by_the_extender(case: Any) -> bool:
    """Likewise: it takes nodes in one of two forms."""
    if case.operation.path not in VERBS or not isinstance(case.body, dict):
        return False
    kind, check = VERBS[case.operation.path]
    try:
        check(decode(json.dumps(case.body).encode(), kind))
    except FactsError:
        return True
    except DecodeError:
        return False
    return False


def is_refused_by_the_core(case: Any) -> bool:
    """Whether a body has the right shape, and one field of it forbids or needs another.

    Schemas could say that only by a choice of shapes, of which generators make nothing of use.
    """
    question = QUESTIONS.get(case.operation.path)
    if question is None or not isinstance(case.body, dict):
        return False
    try:
        question.plan(decode(json.dumps(case.body).encode(), question.facts), NOW, Options())
    except FactsError:
        return True
    except DecodeError:
        return False
    return False


@pytest.fixture
def document(request: pytest.FixtureRequest) -> Any:
    # schemathesis 4 reads the name that this had before pytest 9.2.
    request.node._nodeid = request.node.nodeid
    source = DictSource.of(pod_of("web-0"), node_of("node-1"))
    return schemathesis.openapi.from_asgi("/openapi.json", app_of(source=source, clock=CLOCK))


@pytest.fixture
def tried(document: Any) -> Tried:
    return Tried(document.raw_schema)


# By a fixture: all requests are made before the first is sent, in each process that collects them.
@pytest.mark.schema
@schemathesis.pytest.from_fixture("document").parametrize()
@fuzzed(60, derandomize=True)
def test_every_operation_keeps_its_word(case: Any, tried: Tried) -> None:
    if not is_fuzz() and tried.enough(case):
        return
    response = case.call()
    rejected = response.status_code == 422 and is_refused_by_the_core(case)
    rejected |= response.status_code == 400 and is_refused_by_the_extender(case)
    case.validate_response(response, excluded_checks=[positive_data_acceptance] if rejected else [])
