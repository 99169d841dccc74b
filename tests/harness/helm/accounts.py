"""The chart's service accounts on a real API server, with the chart's rules or one verb less."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from bailiff.cluster import Cluster, Resource, connect
from tests.harness.helm.chart import Object, render, the
from tests.harness.kube.tokens import token_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from tests.harness.kube.apiserver import KubeApiserver

_RBAC = ("rbac.authorization.k8s.io", "v1")
_RESOURCES: dict[str, Resource[Object]] = {
    "ServiceAccount": Resource("", "v1", "serviceaccounts", dict),
    "ClusterRole": Resource(*_RBAC, "clusterroles", dict, namespaced=False),
    "ClusterRoleBinding": Resource(*_RBAC, "clusterrolebindings", dict, namespaced=False),
    "Role": Resource(*_RBAC, "roles", dict),
    "RoleBinding": Resource(*_RBAC, "rolebindings", dict),
}
_REVIEWS: Resource[Object] = Resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", dict, namespaced=False
)


# An API group, a resource, and verbs.
PersonRights = tuple[str, str, tuple[str, ...]]


class Permission(NamedTuple):
    """One verb on one resource; the subresource stands behind a slash."""

    resource: str
    verb: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}"


def permissions(component: str, values: Mapping[str, Any] | None = None) -> set[Permission]:
    """All that the chart grants a component, with its defaults or with such values."""
    return {
        Permission(resource, verb)
        for rule in _rules(_access(component, "any", values))
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


async def log_in(
    server: KubeApiserver,
    component: str,
    namespace: str,
    without: Permission | None = None,
    values: Mapping[str, Any] | None = None,
) -> Path:
    """Give a component its account in a namespace; a kubeconfig with that account's own token.

    Args:
        server: where.
        component: whose rules.
        namespace: where the chart is installed, one of its own for each call.
        without: taken away from the rules.
        values: of the chart; they lead to no other namespace.
    """
    objects = _access(component, namespace, values)
    for rule in _rules(objects):
        _take_away(rule, without)
    async with await connect(server.kubeconfig) as cluster:
        for obj in objects:
            resource = _RESOURCES[obj["kind"]]
            where = _namespace(obj, namespace) if resource.namespaced else ""
            await cluster.create(resource, obj, where)
        account = the(objects, "ServiceAccount", component)["metadata"]["name"]
        async with asyncio.timeout(30):
            asked = [
                attributes
                for obj in objects
                for attributes in _granted(obj.get("rules", ()), _namespace(obj, namespace))
            ]
            for attributes in asked:
                await _allowed(cluster, f"system:serviceaccount:{namespace}:{account}", attributes)
        token = await token_of(cluster, namespace, account)
    return server.write_kubeconfig(f"{component}-{namespace}", {"token": token})


async def person(server: KubeApiserver, namespace: str, *rights: PersonRights) -> Path:
    """A kubeconfig of an account that has these rights in a namespace, and no others."""
    name = f"person-{secrets.token_hex(4)}"
    rules = [
        {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}
        for group, resource, verbs in rights
    ]
    role = {"kind": "Role", "metadata": {"name": name}, "rules": rules}
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC[0], "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }
    async with await connect(server.kubeconfig) as cluster:
        for kind, body in (
            ("ServiceAccount", {"metadata": {"name": name}}),
            ("Role", role),
            ("RoleBinding", binding),
        ):
            await cluster.create(_RESOURCES[kind], body, namespace)
        async with asyncio.timeout(30):
            for attributes in _granted(rules, namespace):
                await _allowed(cluster, f"system:serviceaccount:{namespace}:{name}", attributes)
        token = await token_of(cluster, namespace, name)
    return server.write_kubeconfig(f"{name}-{namespace}", {"token": token})


async def may_do_everything(cluster: Cluster, namespace: str, account: str) -> None:
    """Bind an account to cluster-admin, for as long as its namespace lasts."""
    attributes = {"group": "example.com", "resource": "anything", "verb": "anything"}
    await _bind(cluster, namespace, account, "cluster-admin", attributes)


async def caller(cluster: Cluster, namespace: str, name: str, *, reads: bool = False) -> str:
    """A token for Bailiff of a new account; one that reads may list pods everywhere, and so on."""
    await cluster.create(_RESOURCES["ServiceAccount"], {"metadata": {"name": name}}, namespace)
    if reads:
        attributes = {"group": "", "resource": "pods", "verb": "list"}
        # What the role `view` has, where a controller puts it together.
        await _bind(cluster, namespace, name, "system:aggregate-to-view", attributes)
    return await token_of(cluster, namespace, name, "bailiff")


async def _bind(
    cluster: Cluster, namespace: str, account: str, role: str, attributes: dict[str, Any]
) -> None:
    """Give an account a ClusterRole, and wait until it may do this."""
    body = {
        "metadata": {"name": f"{account}-{role.replace(':', '-')}-{namespace}"},
        "roleRef": {"apiGroup": _RBAC[0], "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }
    await cluster.create(_RESOURCES["ClusterRoleBinding"], body)
    async with asyncio.timeout(30):
        await _allowed(cluster, f"system:serviceaccount:{namespace}:{account}", attributes)


def _access(component: str, namespace: str, values: Mapping[str, Any] | None) -> list[Object]:
    objects = render(values=values, namespace=namespace)
    return [
        obj
        for obj in objects
        if obj["kind"] in _RESOURCES
        and obj["metadata"]["labels"]["app.kubernetes.io/component"] == component
    ]


def _namespace(obj: Object, usual: str) -> str:
    """Rules on the Leases of nodes live where those are."""
    return str(obj["metadata"].get("namespace", usual))


def _rules(objects: Iterable[Object]) -> list[Object]:
    return [rule for obj in objects for rule in obj.get("rules", ())]


def _take_away(rule: Object, without: Permission | None) -> None:
    if without is not None and without.resource in rule["resources"]:
        rule["verbs"] = [verb for verb in rule["verbs"] if verb != without.verb]
        # A rule without verbs is refused, one that grants nothing real is not.
        rule["verbs"] = rule["verbs"] or ["none"]


def _granted(rules: Iterable[Object], namespace: str) -> Iterator[dict[str, Any]]:
    """What to ask in order to know that every rule is in force."""
    for rule in rules:
        for verb in rule["verbs"]:
            resource, _, subresource = rule["resources"][0].partition("/")
            yield {
                "group": rule["apiGroups"][0],
                "resource": resource,
                "subresource": subresource,
                "verb": verb,
                "name": rule.get("resourceNames", [""])[0],
                "namespace": namespace,
            }


async def _allowed(cluster: Cluster, user: str, attributes: dict[str, Any]) -> None:
    """Wait for a rule: the API server comes to know rules by a watch, as others do."""
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "resourceAttributes": attributes},
    }
    while not (await cluster.create(_REVIEWS, body))["status"]["allowed"]:
        await asyncio.sleep(0.02)
