"""Options about devices (DRA): gates, and files to explain from."""

from __future__ import annotations

import typer

DEVICE_TAINT_EVICTION = typer.Option(
    "--device-taint-eviction/--no-device-taint-eviction",
    help="Feature gate DRADeviceTaintEviction: taints of devices count, where the cluster has any.",
    envvar="BAILIFF_DEVICE_TAINT_EVICTION",
)
EXTENDED_RESOURCE_CLAIMS = typer.Option(
    "--extended-resource-claims/--no-extended-resource-claims",
    help="Taints count on devices behind extended resources too, unlike upstream.",
    envvar="BAILIFF_EXTENDED_RESOURCE_CLAIMS",
)
POD_GROUP_CLAIMS = typer.Option(
    "--pod-group-claims",
    help="Feature gate DRAWorkloadResourceClaims: a PodGroup's claims are its pods', too.",
    envvar="BAILIFF_POD_GROUP_CLAIMS",
)
CLAIM = typer.Option(
    "--claim", help="ResourceClaims, YAML or JSON: documents or lists; may be given several times."
)
SLICE = typer.Option("--slice", help="ResourceSlices, as --claim.")
RULE = typer.Option("--rule", help="DeviceTaintRules, as --claim.")
