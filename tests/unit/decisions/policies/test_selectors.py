"""Label selectors choose as Kubernetes' do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.policies import LabelSelector, Operator, Requirement
from bailiff.decisions.policies.selectors import selects

LABELS = {"app": "web", "tier": "", "team": "shop"}


def needs(key: str, operator: Operator, *values: str) -> LabelSelector:
    requirement = Requirement(key=key, operator=operator, values=values)
    return LabelSelector(match_expressions=(requirement,))


@pytest.mark.parametrize(
    ("selector", "chosen"),
    [
        pytest.param(LabelSelector(), True, id="an empty one selects everything"),
        pytest.param(LabelSelector(match_labels={"app": "web"}), True, id="equal"),
        pytest.param(LabelSelector(match_labels={"app": "db"}), False, id="not equal"),
        pytest.param(LabelSelector(match_labels={"zone": ""}), False, id="absent is not empty"),
        pytest.param(LabelSelector(match_labels={"tier": ""}), True, id="empty is empty"),
        pytest.param(LabelSelector(match_labels={"app": "web", "team": "x"}), False, id="all of"),
        pytest.param(needs("app", Operator.IN, "db", "web"), True, id="In"),
        pytest.param(needs("app", Operator.IN, "db"), False, id="In, another value"),
        pytest.param(needs("zone", Operator.IN, "eu"), False, id="In, absent"),
        pytest.param(needs("app", Operator.NOT_IN, "db"), True, id="NotIn"),
        pytest.param(needs("app", Operator.NOT_IN, "db", "web"), False, id="NotIn, that value"),
        pytest.param(needs("zone", Operator.NOT_IN, "eu"), True, id="NotIn matches absent keys"),
        pytest.param(needs("tier", Operator.EXISTS), True, id="Exists, though empty"),
        pytest.param(needs("zone", Operator.EXISTS), False, id="Exists, absent"),
        pytest.param(needs("app", Operator.DOES_NOT_EXIST), False, id="DoesNotExist"),
        pytest.param(needs("zone", Operator.DOES_NOT_EXIST), True, id="DoesNotExist, absent"),
    ],
)
def test_selection(selector: LabelSelector, chosen: bool) -> None:
    assert selects(selector, LABELS) is chosen


KEYS = st.sampled_from("ab")
VALUES = st.sampled_from(("", "x", "y"))
LABEL_SETS = st.dictionaries(KEYS, VALUES)


@given(LABEL_SETS, KEYS, st.lists(VALUES, min_size=1, max_size=2))
def test_negations_are_opposites(labels: dict[str, str], key: str, values: list[str]) -> None:
    assert selects(needs(key, Operator.IN, *values), labels) is not selects(
        needs(key, Operator.NOT_IN, *values), labels
    )
    assert selects(needs(key, Operator.EXISTS), labels) is not selects(
        needs(key, Operator.DOES_NOT_EXIST), labels
    )


@given(LABEL_SETS, LABEL_SETS)
def test_match_labels_are_in_with_one_value(labels: dict[str, str], wanted: dict[str, str]) -> None:
    written_out = LabelSelector(
        match_expressions=tuple(
            Requirement(key=key, operator=Operator.IN, values=(value,))
            for key, value in wanted.items()
        )
    )
    assert selects(LabelSelector(match_labels=wanted), labels) is selects(written_out, labels)
