"""Paths and requests as they go over the wire."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.cluster import NODES, PODS, PatchType, Request, Resource, Selection
from bailiff.cluster import request as requests

LEASES: Resource[dict[str, object]] = Resource("coordination.k8s.io", "v1", "leases", dict)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (PODS.path(), "/api/v1/pods"),
        (PODS.path("n"), "/api/v1/namespaces/n/pods"),
        (PODS.path("n", "p"), "/api/v1/namespaces/n/pods/p"),
        (PODS.path("n", "p", "status"), "/api/v1/namespaces/n/pods/p/status"),
        (NODES.path("", "a"), "/api/v1/nodes/a"),
        (LEASES.path("n", "l"), "/apis/coordination.k8s.io/v1/namespaces/n/leases/l"),
        (PODS.path("n", "a/b?c#d"), "/api/v1/namespaces/n/pods/a%2Fb%3Fc%23d"),
    ],
)
def test_paths(path: str, expected: str) -> None:
    assert path == expected


@given(st.text(min_size=1))
def test_no_name_leaves_its_segment(name: str) -> None:
    try:
        path = PODS.path("n", name)
    except (ValueError, UnicodeEncodeError):
        return
    assert path.count("/") == 6
    assert not set("?#% ") & set(path.replace("%", "", path.count("%")))


@pytest.mark.parametrize(("resource", "namespace", "name"), [(NODES, "n", "a"), (PODS, "", "a")])
def test_paths_that_cannot_be(resource: Resource[object], namespace: str, name: str) -> None:
    with pytest.raises(ValueError, match="namespace"):
        resource.path(namespace, name)


def test_a_page_says_where_it_goes_on() -> None:
    selection = Selection(namespace="n", field_selector="spec.nodeName=a", label_selector="x")
    request = requests.page(PODS, selection, 500, "TOKEN")
    assert (request.method, request.path) == ("GET", "/api/v1/namespaces/n/pods")
    assert request.query == {
        "fieldSelector": "spec.nodeName=a",
        "labelSelector": "x",
        "limit": "500",
        "continue": "TOKEN",
    }


def test_a_watch_never_begins_at_an_empty_version() -> None:
    with pytest.raises(ValueError, match="version"):
        requests.watch(PODS, Selection(), 300, "")


def test_a_delete_carries_its_guards() -> None:
    request = requests.delete("/x", uid="u", resource_version="7", grace_period_seconds=0)
    assert json.loads(request.body or b"") == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u", "resourceVersion": "7"},
        "gracePeriodSeconds": 0,
    }


def test_a_delete_without_guards_names_none() -> None:
    request = requests.delete("/x", dry_run=True)
    assert json.loads(request.body or b"") == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "dryRun": ["All"],
    }


def test_a_patch_names_its_kind_and_its_options() -> None:
    request = requests.patch("/x", {"a": 1}, PatchType.MERGE, fieldManager="me", dryRun="")
    assert (request.content_type, request.query) == (
        "application/merge-patch+json",
        {"fieldManager": "me"},
    )


def test_no_body_shows_in_a_repr() -> None:
    assert "secret" not in repr(Request("POST", "/x", {}, b"secret"))


def test_an_eviction_carries_the_preconditions_of_a_deletion() -> None:
    path = PODS.path("n", "p", "eviction")
    request = requests.evict(path, "p", "n", "u", "7", dry_run=True)
    assert (request.method, request.path) == ("POST", "/api/v1/namespaces/n/pods/p/eviction")
    assert request.query == {"dryRun": "All"}
    assert json.loads(request.body or b"") == {
        "kind": "Eviction",
        "apiVersion": "policy/v1",
        "metadata": {"name": "p", "namespace": "n"},
        "deleteOptions": {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "preconditions": {"uid": "u", "resourceVersion": "7"},
        },
    }
