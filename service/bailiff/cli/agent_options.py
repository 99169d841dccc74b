"""Options of `bailiff agent`."""

from __future__ import annotations

from typing import Any

from bailiff.cli.options import setting

_KUBELET = "The kubelet of the node"
_HOST = "Where the node is measured"
_ROUNDS = "Rounds"
_NOTICES = "Notices of the kernel"
_RUNTIME = "The container runtime"
_ACTING = "Acting"
_STATUS = "Listening"

NODE: Any = setting("--node", "Name of the node that this runs on.")
KUBELET: Any = setting(
    "--kubelet",
    "Ask the kubelet at this address, as https://127.0.0.1:10250, for what it measures of pods and "
    "disks, and for its thresholds; default: everything is measured here.",
    _KUBELET,
)
KUBELET_PODS: Any = setting(
    "--kubelet-pods",
    "Ask the kubelet which pods there are; default: the API server.",
    _KUBELET,
)
OWN_READINGS: Any = setting(
    "--own-readings/--no-own-readings",
    "Measure memory and processes here, whatever the kubelet says of them: its numbers are up to "
    "10 s old.",
    _KUBELET,
)
CA_FILE: Any = setting(
    "--kubelet-certificate-authority",
    "Certificates in PEM that vouch for the kubelet; default: the cluster's.",
    _KUBELET,
)
SERVER_NAME: Any = setting(
    "--kubelet-server-name",
    "Name to look for in the kubelet's certificate; default: the node's.",
    _KUBELET,
)
INSECURE: Any = setting(
    "--kubelet-insecure-tls",
    "Take whatever certificate the kubelet shows. The cluster's token is not shown then.",
    _KUBELET,
)
TOKEN_FILE: Any = setting("--kubelet-token-file", "A token for the kubelet alone.", _KUBELET)
CERTIFICATE: Any = setting(
    "--kubelet-client-certificate", "A client certificate for the kubelet, in PEM.", _KUBELET
)
KEY: Any = setting("--kubelet-client-key", "Its private key, in PEM.", _KUBELET)

HOST_ROOT: Any = setting(
    "--host-root", "Where the node's files are seen, as /host in a container; default: /.", _HOST
)
ACTIVE_PAGE_CACHE: Any = setting(
    "--active-page-cache/--no-active-page-cache",
    "Count page cache that was read twice lately as in use, as the kubelet does; default: with "
    "--shadow. Else it counts as free, since the kernel drops it before it kills a process.",
    _HOST,
    show_default=False,
)
CGROUP: Any = setting(
    "--cgroup",
    "Take this cgroup for the node, its limit for the node's memory; default: the root.",
    _HOST,
)
KUBELET_DIR: Any = setting("--kubelet-dir", "The kubelet's directory, with volumes.", _HOST)
POD_LOGS_DIR: Any = setting("--pod-logs-dir", "Directory of the logs of pods.", _HOST)
IMAGE_DIR: Any = setting(
    "--image-dir",
    "A directory on the file system of images; default: as the runtime says, else the kubelet's.",
    _HOST,
)
CONTAINER_DIR: Any = setting(
    "--container-dir",
    "A directory on the file system of writable layers; default: that of images.",
    _HOST,
)

CONFIG: Any = setting(
    "--pressure-config",
    "KubeletConfiguration whose thresholds count; default: the kubelet's own by its /configz, "
    "without a kubelet its defaults.",
    _ROUNDS,
)
EXTENSIONS: Any = setting(
    "--pressure-extensions",
    "File of settings that no kubelet has, see docs/pressure/extensions.md; default: none.",
    _ROUNDS,
)
INTERVAL: Any = setting(
    "--pressure-interval", "Seconds from one round to the next.", _ROUNDS, min=1.0, max=600.0
)
STALE_AFTER: Any = setting(
    "--pressure-stale-after",
    "Seconds without anything newly measured after which nobody is evicted.",
    _ROUNDS,
    min=1.0,
)
LAYOUT: Any = setting(
    "--pressure-layout",
    "File systems: single, dedicated (images and writable layers on another one), split (images "
    "alone); default: as they are found.",
    _ROUNDS,
)

NOTICES: Any = setting(
    "--notices/--no-notices",
    "Have the kernel tell when memory gets low, before the next round is due.",
    _NOTICES,
)
STALL: Any = setting(
    "--stall-milliseconds",
    "PSI tells once tasks have waited for memory for this long within a second; 0: no PSI.",
    _NOTICES,
    min=0,
    max=1000,
)
MEMORY_HIGH: Any = setting(
    "--memory-high-mark",
    "With cgroup v2: set memory.high of the pods' cgroup at the threshold, so that the kernel "
    "tells of it at once. Until it has told it also takes page cache back there.",
    _NOTICES,
)

RUNTIME: Any = setting(
    "--runtime",
    "Socket of the container runtime, as /run/containerd/containerd.sock: dead containers and "
    "unused images are removed before a pod goes; default: nothing is.",
    _RUNTIME,
)
STOP_CONTAINERS: Any = setting(
    "--stop-containers",
    "If the API server is away and the threshold is hard, stop the pod's containers, and tell "
    "the API server afterwards.",
    _RUNTIME,
)

STATE_FILE: Any = setting(
    "--state-file",
    "File for what a restart has to know: grace periods, when images were used; default: nothing "
    "is kept.",
    _ACTING,
)
CONDITIONS: Any = setting(
    "--pressure-conditions/--no-pressure-conditions",
    "Write MemoryPressure, DiskPressure and PIDPressure into the node's status: for nodes whose "
    "kubelet does not.",
    _ACTING,
)
KEEP_PODS: Any = setting(
    "--pressure-keep-pods",
    "Write Failed and Evicted into the status, as the kubelet does, and delete nothing.",
    _ACTING,
)
DRY_RUN: Any = setting(
    "--dry-run",
    "Have the API server check every write (dryRun=All) and keep none; nothing is freed.",
    _ACTING,
)
SHADOW: Any = setting(
    "--shadow",
    "Decide, write nothing, and compare with what the node's kubelet does.",
    _ACTING,
)
STATUS_HOST: Any = setting("--host", "Address to listen on.", _STATUS)
STATUS_PORT: Any = setting(
    "--status-port",
    "Port of /healthz, /readyz, /metrics and /v1/agent; 0: any free.",
    _STATUS,
    min=0,
    max=65535,
)
