"""Cases about tolerations that pods are given, put to our hook, answered in the files' terms."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import msgspec

from bailiff.decisions.admission import Mutation, Mutations
from bailiff.kinds import Toleration
from bailiff.webhooks import Outcome
from bailiff.webhooks.mutate_pods import MutatePods
from bailiff_demo.patches import apply_patch
from tests.harness.admission import SETTINGS, parts_of, request_of, review

Json = dict[str, Any]

DAEMON = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "controller": True}


def answer_default_tolerations(case: Json) -> Json:
    mutations = Mutations(
        chosen=frozenset({Mutation.DEFAULT_TOLERATION_SECONDS}),
        not_ready_seconds=case["notReadySeconds"],
        unreachable_seconds=case["unreachableSeconds"],
    )
    return {"tolerations": _admitted(case["pod"], mutations, case)}


def answer_extended_resource_toleration(case: Json) -> Json:
    mutations = Mutations(chosen=frozenset({Mutation.EXTENDED_RESOURCE_TOLERATION}))
    return {
        "tolerations": _admitted(case["pod"], mutations, case),
        "tolerationsAfterDefaulting": _admitted(_defaulted(case["pod"]), mutations, case),
    }


def answer_daemonset_tolerations(case: Json) -> Json:
    mutations = Mutations(chosen=frozenset({Mutation.DAEMONSET_TOLERATIONS}))
    pod = {"metadata": {"ownerReferences": [DAEMON]}, "spec": case["podSpec"]}
    return {"tolerations": _admitted(pod, mutations, {"operation": "CREATE", "subresource": ""})}


def comparable_tolerations(expect: Json) -> Json:
    return {name: _plain(tolerations) for name, tolerations in expect.items()}


def _admitted(pod: Json, mutations: Mutations, case: Json) -> Any:
    """The pod's tolerations once the hook's patch is applied."""
    hook = MutatePods(parts_of(settings=replace(SETTINGS, mutations=mutations)))
    request = request_of(object=pod, operation=case["operation"], subResource=case["subresource"])
    outcome: Outcome = asyncio.run(review(hook, request))
    assert outcome.allowed
    patch = json.loads(msgspec.json.encode(outcome.patch))
    patched = apply_patch("application/json-patch+json", pod, patch)
    return _plain(patched["spec"].get("tolerations", []))


def _plain(tolerations: Any) -> Any:
    """Without what is written and says nothing."""
    return msgspec.to_builtins(msgspec.convert(tolerations or [], list[Toleration]))


def _defaulted(pod: Json) -> Json:
    """With limits for requests, as the API server sets them before anybody is asked."""
    pod = json.loads(json.dumps(pod))
    spec = pod["spec"]
    for container in (*spec.get("containers", []), *spec.get("initContainers", [])):
        resources = container.get("resources", {})
        if "limits" in resources:
            resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}
    return pod
