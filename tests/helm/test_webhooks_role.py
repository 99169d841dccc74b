"""The hooks under the chart's own rules: they see what they decide by, and no rule is too much."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace

import pytest

from bailiff.clock import SystemClock
from bailiff.cluster import connect
from bailiff.decisions.policies import read
from bailiff.lookup import ClusterSource, PodGroups
from bailiff.tally import Tally
from bailiff.webhooks import AdmissionSettings, hooks_of
from tests.harness.admission import app_of, ask, parts_of
from tests.harness.device_objects import rule, slice_of
from tests.harness.gpus import gpus_of
from tests.harness.helm.accounts import Permission, log_in, permissions
from tests.harness.helm.chart import render, the
from tests.harness.helm.hooks import ALL
from tests.harness.objects import KEY, container, node_object, pod_object, taint
from tests.harness.pausing import WHOLE

pytestmark = [pytest.mark.helm, pytest.mark.kube_apiserver]

EVICTOR = "evictor"
STORE = "bailiff-evictions"
SELECTOR = {"matchLabels": {"tier": "system"}}
# What an admission policy asks for: test_guarded_config_maps.py.
GUARD = Permission("counts", "update")
# In which scene each is missed.
MISSED = {
    Permission("nodes", "get"): "pod",
    Permission("nodes", "list"): "node",
    Permission("pods", "get"): "eviction",
    Permission("pods", "list"): "node",
    Permission("poddisruptionbudgets", "list"): "node",
    Permission("namespaces", "get"): "eviction",
    Permission("podgroups", "get"): "gang",
    Permission("configmaps", "get"): "eviction",
    Permission("configmaps", "patch"): "eviction",
    Permission("resourceclaims", "get"): "pod",
    Permission("resourceclaims", "list"): "rule",
    Permission("resourceslices", "list"): "rule",
    Permission("devicetaintrules", "list"): "pod",
}


def values(namespace):
    place = {"namespace": namespace}
    policies = {
        "pause": place,
        "gangs": {},
        "exclude": {"namespaceSelector": SELECTOR},
        "overTime": {
            "store": place,
            "budgets": [{"name": "all", "evictions": 10, "seconds": 60}],
        },
        "blastRadius": {"maxPods": 100, "maxNamespaceFraction": 0.9},
    }
    return ALL | {"api": {"readCluster": False}, "worker": {"policies": policies}}


class Scenes:
    """What hooks are asked under the account's rules; each answers with all that was said."""

    def __init__(self, app, bench, gpus):
        self.app, self.bench, self.gpus = app, bench, gpus

    async def ask(self, scene):
        response = await getattr(self, scene)()
        return json.dumps(response)

    async def pod(self):
        made = await self.bench.get("trainer")
        return await ask(self.app, "validate/pods", object=made, namespace=self.bench.namespace)

    async def binding(self):
        body = {"metadata": {"name": "free"}, "target": {"kind": "Node", "name": self.gpus.node}}
        return await self._about("validate/bindings", "free", "binding", body)

    async def node(self):
        old = node_object(self.gpus.node)
        new = node_object(self.gpus.node, taint(KEY))
        return await self._changed("nodes", "", old, new)

    async def rule(self):
        made = rule(self.gpus.name, driver="gpu.example.com", pool=self.gpus.name)
        return await self._changed("devicetaintrules", "resource.k8s.io", None, made)

    async def slice(self):
        old = slice_of(self.gpus.name)
        tainted = slice_of(self.gpus.name, {"key": "k", "effect": "NoExecute"})
        return await self._changed("resourceslices", "resource.k8s.io", old, tainted)

    async def eviction(self):
        return await self._about("validate/evictions", "trainer", "eviction", {})

    async def gang(self):
        spec = {"nodeName": self.gpus.node, "containers": [container()]}
        pod = pod_object("one", **spec, schedulingGroup={"podGroupName": "crew"})
        pod["metadata"] |= {"namespace": self.bench.namespace, "uid": "u-1"}
        return await ask(
            self.app,
            "validate/deletes",
            operation="DELETE",
            object=None,
            oldObject=pod,
            userInfo={"username": EVICTOR},
            options={"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"},
        )

    async def _about(self, hook, name, subresource, body):
        return await ask(
            self.app,
            hook,
            name=name,
            namespace=self.bench.namespace,
            subResource=subresource,
            object={"metadata": {"name": name}} | body,
        )

    async def _changed(self, plural, group, old, new):
        return await ask(
            self.app,
            f"validate/{plural}",
            resource={"group": group, "version": "v1", "resource": plural},
            operation="CREATE" if old is None else "UPDATE",
            name=new["metadata"]["name"],
            namespace="",
            object=new,
            oldObject=old,
        )


@contextlib.asynccontextmanager
async def scenes(server, bench, without=None):
    settings = values(bench.namespace)
    path = await log_in(server, "api", bench.namespace, without, settings)
    objects = render(values=settings, namespace=bench.namespace)
    text = the(objects, "ConfigMap", "worker", "-policies")["data"]["policies.yaml"]
    policies = read(text.encode())
    await bench.cluster.create(WHOLE, the(objects, "ConfigMap", "worker"), bench.namespace)
    async with gpus_of(bench) as gpus, await connect(path) as own:
        await gpus.pod("trainer")
        await bench.pod("free")
        clock = SystemClock()
        parts = replace(
            parts_of(
                ClusterSource(own, clock), AdmissionSettings(gate_delete_users=frozenset({EVICTOR}))
            ),
            policies=lambda: policies,
            pod_groups=PodGroups(own, clock),
            tally=Tally(own, clock),
        )
        yield Scenes(app_of(*hooks_of(parts)), bench, gpus)


def test_the_table_names_every_permission_of_the_hooks():
    assert permissions("api", values("any")) - {GUARD} == MISSED.keys()


async def test_under_the_chart_s_rules_every_hook_sees_all(kube_apiserver, bench):
    async with scenes(kube_apiserver, bench) as asked:
        for scene in ("pod", "binding", "node", "rule", "slice", "eviction", "gang"):
            said = await asked.ask(scene)
            assert '"allowed": true' in said, (scene, said)
            assert "permission" not in said, scene
            assert "not looked at" not in said, scene
        counted = await bench.cluster.get(WHOLE, STORE, bench.namespace)
        assert counted["data"]


@pytest.mark.parametrize("without", sorted(MISSED), ids=str)
async def test_with_one_verb_less_a_hook_says_what_it_has_not_seen(kube_apiserver, bench, without):
    async with scenes(kube_apiserver, bench, without) as asked:
        said = await asked.ask(MISSED[without])
        # Warnings are cut at their end.
        words = [f"permission to {without}", f"may not read the {without.resource}"]
        if without.resource == "configmaps":
            words.append(f'\\"{STORE}\\" is forbidden')
        assert any(word in said for word in words), said
