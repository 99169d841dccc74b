"""The codes that the document lists are those that the core speaks."""

from typing import Any

import pytest

from bailiff.rest_api.examples.codes import CODES, OF_RESIDENCIES, OUTCOMES, RULES
from tests.harness.codes import spoken_codes
from tests.unit.rest.test_document import DOCUMENT

# Reasons of the condition of a DeviceTaintRule, which Kubernetes gives.
OF_CONDITIONS = {"Completed", "NoEffect", "NotStarted", "OtherEffect", "PodsPendingEviction"}


def test_they_are_those_of_the_core() -> None:
    assert {*OF_RESIDENCIES, *RULES, *OUTCOMES} == spoken_codes() - OF_CONDITIONS


@pytest.mark.parametrize(("kind", "field"), CODES)
def test_the_document_shows_them_and_allows_others(kind: str, field: str) -> None:
    told: dict[str, Any] = DOCUMENT["components"]["schemas"][kind]["properties"][field]
    assert told["examples"] == list(CODES[kind, field])
    assert (told["type"], "enum" in told) == ("string", False)
