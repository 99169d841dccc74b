"""Discovery of devices, and the kinds read in the version that was found."""

from __future__ import annotations

import secrets

import pytest

from bailiff.cluster import Cluster
from bailiff.cluster.discovery import served
from tests.harness.api import Bench
from tests.harness.device_objects import RULES, RULES_VERSION, SLICES, device_taint, rule, slice_of

pytestmark = pytest.mark.parity


async def test_devices_are_served_in_these_versions(cluster: Cluster) -> None:
    api = await served(cluster)
    assert api is not None
    assert (api.slices.version, api.claims.version) == ("v1", "v1")
    assert api.rules is not None
    assert api.rules.version == RULES_VERSION


async def test_what_was_found_can_be_read(bench: Bench) -> None:
    api = await served(bench.cluster)
    assert api is not None
    assert api.rules is not None
    name = f"test-{secrets.token_hex(4)}"
    await bench.cluster.create(SLICES, slice_of(name, device_taint()))
    await bench.cluster.create(RULES, rule(name, "None", driver="gpu.example.com"))
    try:
        found = await bench.cluster.list(api.slices, field_selector="spec.driver=gpu.example.com")
        devices = [one.spec.devices for one in found.items if one.metadata.name == name]
        assert [device.name for device in devices[0]] == ["gpu-0", "gpu-1"]
        assert devices[0][0].taints[0].time_added is not None
        read = await bench.cluster.get(api.rules, name)
        assert read.spec.device_selector is not None
        assert read.spec.device_selector.driver == "gpu.example.com"
        assert (await bench.cluster.list(api.claims, namespace=bench.namespace)).items == ()
    finally:
        await bench.cluster.delete(SLICES, name)
        await bench.cluster.delete(RULES, name)
