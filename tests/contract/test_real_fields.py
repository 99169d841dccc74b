"""No field that Kubernetes has is taken for a misspelt one: by what the API server publishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bailiff.cli.objects import KINDS
from bailiff.cli.unknown_fields import misspelt
from bailiff.cluster import Request

if TYPE_CHECKING:
    from bailiff.cluster import Cluster

pytestmark = pytest.mark.kube_apiserver

# By where their schemas are published.
PUBLISHED = {
    "api/v1": ("Pod", "Node"),
    "apis/policy/v1": ("PodDisruptionBudget",),
    "apis/resource.k8s.io/v1": ("ResourceClaim", "ResourceSlice", "DeviceTaintRule"),
}
# Of objects within objects; none of ours lies deeper.
DEEPEST = 12


@pytest.mark.parametrize("place", PUBLISHED)
async def test_an_object_with_every_field_there_is_is_not_warned_of(
    cluster: Cluster, place: str
) -> None:
    answer = await cluster.send(Request("GET", f"/openapi/v3/{place}"))
    schemas = msgspec.json.decode(answer)["components"]["schemas"]
    for kind in PUBLISHED[place]:
        (schema,) = (schemas[name] for name in schemas if name.startswith("io.k8s.api.")
                     and name.endswith(f".{kind}"))  # fmt: skip
        whole = full(schema, schemas, DEEPEST)
        assert set(whole) >= {"apiVersion", "kind", "metadata", "spec"}
        assert misspelt(whole, KINDS[kind]) == []


def full(schema: dict[str, Any], schemas: dict[str, Any], depth: int) -> Any:
    """A value with every field of a schema; of what is nested too deep, nothing."""
    for part in (schema, *schema.get("allOf", ())):
        if "$ref" in part and depth:
            return full(schemas[part["$ref"].rpartition("/")[2]], schemas, depth - 1)
        if "items" in part and depth:
            return [full(part["items"], schemas, depth - 1)]
        if "properties" in part and depth:
            fields = part["properties"].items()
            return {name: full(field, schemas, depth - 1) for name, field in fields}
    return {}
