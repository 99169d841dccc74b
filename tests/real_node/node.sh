#!/bin/sh
# The first process of a kernel that runs as a process (user-mode Linux): it makes a node of it, with
# containerd, etcd, kube-apiserver and a kubelet, runs a scene, and halts.
#
# The host's files are its root, read-only; /mnt is a disk of its own. The settings stand in
# WORK/settings, which is written by __main__.py, and this is called with WORK. A scene without
# a .yaml for the kubelet gets the bare machine.
. "$1/settings"
export HOME=/mnt TMPDIR=/mnt PATH="$RUNTIME:$WORK/debian/usr/bin:$WORK/debian/usr/sbin:$PROGRAMS:/usr/sbin:/usr/bin:/sbin:/bin"
export KUBECONFIG=/mnt/kubeconfig

tell() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }
fail() { tell "failed: $*"; tail -n 20 /mnt/log/*.log; halt -f; }
within() { # SECONDS COMMAND...: until the command succeeds
    tries=$1; shift
    for _ in $(seq "$tries"); do "$@" >/dev/null 2>&1 && return; sleep 1; done
    fail "$*"
}
# A recording is printed, since nothing but the console leaves this machine.
record() { echo "RECORD $1 $(gzip -9c "$2" | base64 -w0)"; }

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mkdir -p /dev/shm /dev/pts
for folder in /run /var/lib /var/log; do mount -t tmpfs tmpfs "$folder"; done
# What the kubelet reads of processors is not in the file of this kernel.
mount --bind "$WORK/cpuinfo" /proc/cpuinfo
mount /dev/ubda /mnt || halt -f
mkdir -p /mnt/log /mnt/network
ip link set lo up
# An address for the node that is not loopback, of those that are for documentation.
ip addr add "$ADDRESS/32" dev lo
hostname node
if [ ! -e "${SCENE%.sh}.yaml" ]; then . "$SCENE"; tell "the scene is over"; halt -f; fi

containerd -c "$WORK/containerd.toml" > /mnt/log/containerd.log 2>&1 &
etcd --data-dir /mnt/etcd --log-level error > /mnt/log/etcd.log 2>&1 &
openssl genrsa -out /mnt/accounts.key 2048 2>/dev/null
echo 'token,admin,admin,system:masters' > /mnt/tokens
kube-apiserver --etcd-servers http://127.0.0.1:2379 --bind-address 127.0.0.1 --advertise-address "$ADDRESS" \
    --cert-dir /mnt/certificates --token-auth-file /mnt/tokens --authorization-mode AlwaysAllow \
    --service-account-issuer https://node.example --service-account-key-file /mnt/accounts.key \
    --service-account-signing-key-file /mnt/accounts.key --service-cluster-ip-range 10.0.0.0/24 \
    --disable-admission-plugins ServiceAccount --endpoint-reconciler-type none \
    --kubelet-preferred-address-types InternalIP > /mnt/log/apiserver.log 2>&1 &
cp "$WORK/kubeconfig" /mnt/kubeconfig
within 120 kubectl get --raw /readyz
tell "the API server is ready"
ctr --namespace k8s.io images import --snapshotter native "$WORK/image.tar" >/dev/null || fail "the image"
kubectl create serviceaccount default >/dev/null
before="${SCENE%.sh}.before"
if [ -e "$before" ]; then . "$before"; fi
"$KUBELET" --config "$WORK/kubelet.yaml" --kubeconfig /mnt/kubeconfig --root-dir /mnt/kubelet \
    --hostname-override node --node-ip "$ADDRESS" -v "${VERBOSITY:-2}" > /mnt/log/kubelet.log 2>&1 &
within 90 kubectl get node node
kubectl taint node node node.kubernetes.io/not-ready- >/dev/null 2>&1
tell "the node is registered"
. "$SCENE"
tell "the scene is over"
halt -f
