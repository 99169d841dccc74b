"""What kubectl says of the demo cluster and of a real kube-apiserver, command by command.

`python -m tests.kubectl_parity` runs the same commands against both and prints where the exit code
or the words differ. Nothing but the API server runs on either side: no scheduler, no kubelet, no
controller. It is run by hand: what must be the same is in tests/contract.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from bailiff_demo import DemoCluster
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.programs import assets

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {app: web}}
spec:
  nodeName: n1
  tolerations: [{key: maintenance, operator: Exists, effect: NoExecute, tolerationSeconds: 60}]
  containers: [{name: main, image: "example.com/a:1"}]
"""
NODES = """\
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {zone: east}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {zone: west}}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.com/web:1"}]}
"""
RULE = """\
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: recall}
spec:
  deviceSelector: {driver: gpu.example.com}
  taint: {key: recall, effect: None}
"""
READY = '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
LABEL = '{"metadata":{"labels":{"by":"patch"}}}'
JSON_LABEL = '[{"op":"add","path":"/metadata/labels/json","value":"yes"}]'

# A command and its standard input.
COMMANDS: list[tuple[str, str]] = [
    ("apply -f -", NODES),
    ("get nodes", ""),
    ("create namespace box", ""),
    ("create configmap settings --from-literal=color=red", ""),
    ("get configmap settings -o jsonpath={.data}", ""),
    ("create secret generic token --from-literal=a=b", ""),
    ("create serviceaccount robot", ""),
    ("create deployment api --image=example.com/api:1 --replicas=2 --port=80", ""),
    ("get deployment api", ""),
    ("create poddisruptionbudget web --selector=app=web --min-available=1", ""),
    ("get pdb", ""),
    ("create priorityclass high --value=7", ""),
    ("get priorityclass high", ""),
    ("apply -f -", POD),
    ("apply -f -", POD),
    ("apply -f -", POD.replace("app: web", "app: web, tier: front")),
    ("get pods", ""),
    ("get pod a -o wide", ""),
    ("get pods -l app=web -o name", ""),
    ("get pods -l tier=back", ""),
    ("get pods --field-selector spec.nodeName=n1 -o name", ""),
    ("get pods --field-selector spec.color=red", ""),
    ("get pod nobody", ""),
    ("get pod a -o jsonpath={.spec.tolerations[*].key}", ""),
    ("describe pod a", ""),
    ("describe node n1", ""),
    ("apply -f -", DEPLOYMENT),
    ("apply -f -", DEPLOYMENT),
    ("apply -f -", DEPLOYMENT.replace("replicas: 2", "replicas: 3")),
    ("scale deployment web --replicas=5", ""),
    ("get deployment web -o jsonpath={.spec.replicas}", ""),
    ("describe deployment web", ""),
    ("rollout status deployment web --timeout=1s", ""),
    ("rollout restart deployment web", ""),
    ("set image deployment/web web=example.com/web:2", ""),
    ("get deployment web -o jsonpath={.spec.template.spec.containers[0].image}", ""),
    (f"patch pod a --type=merge -p {LABEL}", ""),
    (f"patch pod a --type=json -p {JSON_LABEL}", ""),
    (f"patch pod a -p {LABEL.replace('patch', 'strategy')}", ""),
    (f"patch pod a --subresource=status --type=merge -p {READY}", ""),
    ("get pods a", ""),
    ("wait pod/a --for=condition=Ready --timeout=5s", ""),
    ("wait pod/a --for=delete --timeout=1s", ""),
    ("label pod a size=big", ""),
    ("label pod a size=small", ""),
    ("label pod a size=small --overwrite", ""),
    ("annotate pod a note=x", ""),
    ("get pod a --show-labels", ""),
    ("taint node n1 maintenance=true:NoExecute", ""),
    ("taint node n1 maintenance=true:NoExecute", ""),
    ("get node n1 -o jsonpath={.spec.taints[*].key}", ""),
    ("taint node n1 maintenance-", ""),
    ("cordon n1", ""),
    ("get node n1", ""),
    ("uncordon n1", ""),
    ("create -f -", POD),
    ("create -f -", POD.replace("name: a", "name: B")),
    ("create -f -", POD.replace("operator: Exists", "operator: Near")),
    ("create -f - --dry-run=server", POD.replace("name: a", "name: dry")),
    ("apply --server-side -f -", POD.replace("name: a", "name: ssa")),
    ("apply --server-side -f -", POD.replace("name: a", "name: ssa")),
    ("apply -f -", RULE),
    ("get devicetaintrule recall", ""),
    ("events", ""),
    ("top nodes", ""),
    ("logs a", ""),
    ("api-resources --api-group=policy", ""),
    ("drain n1 --force --ignore-daemonsets --timeout=5s --disable-eviction", ""),
    ("delete pod a --force --grace-period=0", ""),
    ("delete deployment web api", ""),
    ("delete pod nobody", ""),
    ("delete namespace box --wait=false", ""),
    ("delete namespace default", ""),
    ("delete devicetaintrule recall", ""),
]
# What differs from run to run.
MASKS = [
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}"), "UID"),
    (re.compile(r"\b\d+(s|ms|m\d*s?)\b"), "AGE"),
    (re.compile(r"\w{3}, \d\d \w{3} \d{4} [\d:]+ [+-]\d{4}"), "TIME"),
    (re.compile(r"https?://127\.0\.0\.1:\d+"), "SERVER"),
    (re.compile(r"[ \t]+"), " "),
]


class Said(NamedTuple):
    """How a command ended, and its words with what differs from run to run masked."""

    code: int
    words: list[str]


def run(kubectl: Path, kubeconfig: Path, command: str, stdin: str) -> Said:
    """Run one command; a minute is more than any of them takes."""
    environment = {"KUBECONFIG": str(kubeconfig), "HOME": str(kubeconfig.parent)}
    done = subprocess.run(
        [kubectl, *command.split(" ")],
        input=stdin,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    text = done.stdout + done.stderr
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return Said(done.returncode, [line.strip() for line in text.splitlines()])


async def record() -> list[tuple[str, Said, Said]]:
    """Each command with what it came to on the demo cluster and on the real server."""
    folder = assets()
    if folder is None:
        sys.exit("needs the real programs: export KUBEBUILDER_ASSETS=$(make -s test-assets)")
    kubectl = folder / "kubectl"
    with tempfile.TemporaryDirectory() as home, KubeApiserver() as real:
        ours = Path(home) / "kubeconfig"
        async with DemoCluster(lively=False) as demo:
            ours.write_text(demo.kubeconfig())
            return [
                (
                    command,
                    await asyncio.to_thread(run, kubectl, ours, command, stdin),
                    await asyncio.to_thread(run, kubectl, real.kubeconfig, command, stdin),
                )
                for command, stdin in COMMANDS
            ]


def main() -> int:
    """Print the differences; 0 if the exit codes are all the same."""
    recorded = asyncio.run(record())
    codes = words = 0
    for command, demo, real in recorded:
        if demo == real:
            continue
        codes += demo.code != real.code
        words += 1
        print(f"$ kubectl {command}\n  exit code {demo.code} on the demo, {real.code} on the real")
        for line in difflib.unified_diff(demo.words, real.words, "demo", "real", "", "", 0, ""):
            print(f"  {line}")
    print(f"{len(recorded)} commands, {words} differ in words, {codes} in the exit code")
    return int(codes > 0)


if __name__ == "__main__":
    sys.exit(main())
