#!/bin/sh
# A node to try `bailiff agent` on: on any Linux machine, as root, with KUBECONFIG of the demo.
#
#     node.sh NAME     a node NAME of 400 MiB, with the pods greedy of 250 MiB and modest of 50
#     node.sh NAME -   away with it
#
# The node is a cgroup, and its pods are cgroups in that, named as a kubelet names them, each with a
# process that holds memory. A loop in the background ends the process of a pod that is deleted, as
# a kubelet would.
set -eu
name=$1
case $(kubectl config view --minify -o jsonpath='{.clusters[0].cluster.server}') in
*//127.0.0.1:* | *//localhost:*) ;;
*) echo "node.sh: KUBECONFIG is to be that of the demo" >&2 && exit 2 ;;
esac
root=/sys/fs/cgroup limit=memory.max
if [ -d $root/memory ]; then root=$root/memory limit=memory.limit_in_bytes; fi
node=$root/$name
pods=$node/kubepods/besteffort

end() { # CGROUP: its processes, and the cgroup itself
    while processes=$(cat "$1/cgroup.procs") && [ -n "$processes" ]; do
        kill -9 $processes 2>/dev/null || true
        sleep 0.1
    done
    rmdir "$1"
}

fill() { # UID MIB: a process in the cgroup of that pod
    mkdir "$pods/pod$1"
    program="import time; memory = bytearray(b'x') * ($2 << 20); time.sleep(3600)"
    sh -c 'echo $$ > "$1"; exec python3 -c "$2"' sh "$pods/pod$1/cgroup.procs" "$program" >/dev/null 2>&1 &
}

if [ "${2-}" = - ]; then
    for pod in "$pods"/pod*; do if [ -d "$pod" ]; then end "$pod"; fi; done
    rmdir "$pods" "$node/kubepods" "$node"
    kubectl delete pod -n demo greedy modest --ignore-not-found --grace-period=0 --force >/dev/null 2>&1
    kubectl delete node "$name"
    exit
fi

mkdir -p "$pods"
# With cgroup v2 each folder says whether those in it count memory.
for folder in "$root" "$node" "$node/kubepods" "$pods"; do
    [ ! -e "$folder/cgroup.subtree_control" ] || echo +memory > "$folder/cgroup.subtree_control"
done
echo $((400 << 20)) > "$node/$limit"
echo '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "'"$name"'"}}' | kubectl create -f -
for pod in greedy modest; do
    kubectl run -n demo "$pod" --image example --overrides '{"spec": {"nodeName": "'"$name"'"}}'
done
on_node="kubectl get pods -n demo --field-selector spec.nodeName=$name"
# The third is that of a DaemonSet, which the demo has on each node.
until [ "$($on_node -o name | wc -l)" = 3 ]; do sleep 0.2; done
$on_node --no-headers -o custom-columns=NAME:.metadata.name,UID:.metadata.uid | while read -r pod uid; do
    case $pod in greedy) fill "$uid" 250 ;; modest) fill "$uid" 50 ;; *) fill "$uid" 5 ;; esac
done
while sleep 1 && [ -d "$pods" ]; do
    there=$($on_node -o jsonpath='{.items[*].metadata.uid}' 2>/dev/null) || exit 0
    for pod in "$pods"/pod*; do
        case "$there" in *"${pod##*/pod}"*) ;; *) if [ -d "$pod" ]; then end "$pod"; fi ;; esac
    done
done >/dev/null 2>&1 &
