"""What `bailiff up` prints: what is where, and what to try."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff_demo.settings import UpSettings

# Taints the GPU that the pod `trainer` uses, as its driver would.
_HOT = '[{"op":"add","path":"/spec/devices/0/taints","value":[{"key":"hot","effect":"NoExecute"}]}]'

_WITH_KUBECTL = """\
  kubectl get pods -n demo -o wide
  kubectl taint node node-a maintenance=true:NoExecute
  kubectl get pods -n demo -o wide -w
  kubectl get events -n demo
  kubectl taint node node-a maintenance=true:NoExecute-
  kubectl patch resourceslice gpu-1-gpu.example.com --type json \\
    -p '{hot}'
  kubectl annotate --overwrite -n demo pod/report demo.bailiff.dev/memory=2Gi
  kubectl get --raw /api/v1/nodes/small-1/proxy/stats/summary > summary.json
  kubectl get --raw /api/v1/nodes/small-1/proxy/configz > config.json
  kubectl get pods -A --field-selector spec.nodeName=small-1 -o json > pods.json
"""

_WITH_CURL = """\
  T="Authorization: Bearer $(sed -n 's/^ *token: //p' {kubeconfig})"
  curl -sk -H "$T" {cluster}/api/v1/namespaces/demo/pods?fieldSelector=spec.nodeName=node-a
  curl -sk -H "$T" -X PATCH -H 'Content-Type: application/merge-patch+json' \\
    {cluster}/api/v1/nodes/node-a \\
    -d '{{"spec":{{"taints":[{{"key":"maintenance","value":"true","effect":"NoExecute"}}]}}}}'
  curl -sk -H "$T" -X PATCH -H 'Content-Type: application/json-patch+json' \\
    {cluster}/apis/resource.k8s.io/v1/resourceslices/gpu-1-gpu.example.com \\
    -d '{hot}'
  curl -sk -H "$T" -X PATCH -H 'Content-Type: application/merge-patch+json' \\
    {cluster}/api/v1/namespaces/demo/pods/report \\
    -d '{{"metadata":{{"annotations":{{"demo.bailiff.dev/memory":"2Gi"}}}}}}'
  curl -sk -H "$T" {cluster}/api/v1/nodes/small-1/proxy/stats/summary > summary.json
  curl -sk -H "$T" {cluster}/api/v1/nodes/small-1/proxy/configz > config.json
  curl -sk -H "$T" {cluster}/api/v1/pods?fieldSelector=spec.nodeName=small-1 > pods.json
  curl -sk -H "$T" {cluster}/api/v1/namespaces/demo/events
  curl -s {queue}
"""


def welcome(settings: UpSettings, cluster: str, kubeconfig: Path, worker_pid: int) -> str:
    """The text; its last line is `bailiff is ready`."""
    rest = f"http://{settings.host}:{settings.rest_port}"
    queue = f"http://{settings.host}:{settings.status_port}/v1/queue"
    tries = _WITH_KUBECTL if shutil.which("kubectl") else _WITH_CURL
    tries = tries.format(cluster=cluster, queue=queue, hot=_HOT, kubeconfig=kubeconfig)
    return f"""\

  REST        {rest}          Swagger UI at {rest}/docs
  gRPC        {settings.host}:{settings.grpc_port}
  worker      {queue}   (pid {worker_pid})
  cluster     {cluster}   the demo, in memory

Try, in another terminal, after the `export` line below and `. .venv/bin/activate`:
  bailiff preview taint node-a maintenance=true:NoExecute
  bailiff explain pod/patient -n demo
{tries}  curl -s {rest}/v1/nodes/node-a/decisions
  curl -s {rest}/v1/nodes/gpu-1/decisions
  bailiff explain pressure --summary summary.json --config config.json --pods pods.json

export KUBECONFIG={kubeconfig}
bailiff is ready
"""
