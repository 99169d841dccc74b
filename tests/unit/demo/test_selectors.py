from __future__ import annotations

import pytest

from bailiff_demo.errors import ApiError
from bailiff_demo.resources import EVENTS, NODES, PODS
from bailiff_demo.selectors import Selection, chooses, parse_fields, parse_labels

LABELS = {"app": "web", "tier": "front"}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app==web,tier=front", True),
        ("app=web,tier=back", False),
        ("app!=web", False),
        ("none!=web", True),
        ("app in (db, web)", True),
        ("app in (db)", False),
        ("app notin (db)", True),
        ("none notin (db)", True),
        ("app", True),
        ("none", False),
        ("!none", True),
        ("!app", False),
        ("app=", False),
    ],
)
def test_label_selectors(text: str, matches: bool) -> None:
    selection = Selection(labels=parse_labels(text))
    assert selection.matches({"metadata": {"labels": LABELS}}) is matches


@pytest.mark.parametrize(
    "text", ["=a", "a in b", "a,,b", "a=b=c", "a in (b", "-a", "a b", "," * 30_000]
)
def test_bad_label_selectors(text: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_labels(text)
    assert caught.value.code == 400


POD = {
    "metadata": {"name": "a", "namespace": "d"},
    "spec": {"nodeName": "n"},
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("metadata.name=a", True),
        ("metadata.namespace=e", False),
        ("spec.nodeName=n,status.phase!=Failed", True),
        ("spec.nodeName=", False),
        ("status.podIP=", True),
        ("spec.hostNetwork=false", True),
    ],
)
def test_field_selectors(text: str, matches: bool) -> None:
    assert Selection(fields=parse_fields(text, PODS)).matches(POD) is matches


def test_field_selectors_of_nodes_and_events() -> None:
    (term,) = parse_fields("spec.unschedulable=false", NODES)
    assert term.matches({"metadata": {"name": "n"}})
    (term,) = parse_fields("involvedObject.name=x", EVENTS)
    assert term.matches({"involvedObject": {"name": "x"}})
    (term,) = parse_fields("source=kubelet", EVENTS)
    assert term.matches({"source": {"component": "kubelet"}})


@pytest.mark.parametrize("text", ["spec.image=x", "metadata.name", "metadata.namespace=x"])
def test_fields_that_cannot_be_selected(text: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_fields(text, NODES)
    assert caught.value.code == 400


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "db"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Unheard"}]}, False),
    ],
)
def test_label_selectors_of_objects(selector: dict[str, object] | None, matches: bool) -> None:
    assert chooses(selector, LABELS) is matches
