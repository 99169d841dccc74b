"""Whatever somebody asks or answers: it is read, or refused with its place, and no more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from bailiff.client import BailiffError, json_form
from bailiff.client.json_form.reading import UnreadableError
from bailiff.client.messages import (
    DecideBatchResponse,
    DecideRequest,
    JudgeNodesRequest,
    PlanPressureRoundRequest,
    PlanPressureRoundResponse,
)
from bailiff.client.rest_words import body_of
from tests.harness.fuzzing import fuzzed

KINDS = [
    DecideRequest,
    DecideBatchResponse,
    JudgeNodesRequest,
    PlanPressureRoundRequest,
    PlanPressureRoundResponse,
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["2026-01-01T00:00:00Z", "9999-12-31T23:59:60Z", "1Gi", "\ud800", "KEEP"])
    | st.binary(max_size=5)
)


def names_of(kind: type[Message]) -> list[str]:
    """Of the fields of a message and of those in it, as JSON has them."""
    seen, waiting, names = set(), [kind.DESCRIPTOR], set()
    while waiting:
        message = waiting.pop()
        for field in message.fields:
            names.add(field.json_name)
            if field.message_type is not None and field.message_type.full_name not in seen:
                seen.add(field.message_type.full_name)
                waiting.append(field.message_type)
    return sorted(names | {"kind", "device-taints", "raw"})


def bodies(kind: type[Message]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(names_of(kind)) | st.text(max_size=5)
    return st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=6),
        max_leaves=30,
    )


def drawn(kind: type[Message]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from(names_of(kind)), bodies(kind), max_size=6)


@pytest.mark.fuzzed
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("strict", [True, False])
def test_what_is_read_can_be_written_and_read_again(kind: type[Message], strict: bool) -> None:
    @fuzzed(200)
    @given(drawn(kind))
    def once(body: Any) -> None:
        try:
            message = json_form.read(body, kind, strict=strict)
        except UnreadableError as error:
            path = error.field.path
        else:
            path = "$"
            _check(message, strict=strict)
        assert path.startswith("$")

    once()


def _check(message: Message, *, strict: bool) -> None:
    message.SerializeToString()
    written = json.loads(json.dumps(json_form.write(message)))
    again = json_form.read(written, type(message), strict=strict)
    assert json_form.write(again) == json_form.write(message)


@fuzzed(200)
@given(drawn(DecideRequest))
def test_a_body_is_made_or_refused(body: Any) -> None:
    try:
        code = "made" if json.loads(body_of(body, DecideRequest)) is not None else ""
    except BailiffError as error:
        code = error.code
    assert code in ("made", "invalid_field")
