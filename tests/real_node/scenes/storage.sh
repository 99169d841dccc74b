# Two pods write more than they may: one into an emptyDir with a limit, one over its own limit of
# ephemeral storage. Written from outside, since the image holds nothing but one program.
. "$(dirname "$SCENE")/common.inc"
configuration
{
    pod scratch 20 '"volumeMounts": [{"name": "files", "mountPath": "/files"}],' \
        '"volumes": [{"name": "files", "emptyDir": {"sizeLimit": "20Mi"}}],'
    pod writer 20 '"volumeMounts": [{"name": "files", "mountPath": "/files"}], "resources": {"limits": {"ephemeral-storage": "40Mi"}},' \
        '"volumes": [{"name": "files", "emptyDir": {}}],'
} | kubectl apply -f -
for name in scratch writer; do
    within 60 sh -c "kubectl get pod $name -o jsonpath='{.status.phase}' | grep -q Running"
done
pods
write() { # POD MEBIBYTES
    uid=$(kubectl get pod "$1" -o jsonpath='{.metadata.uid}')
    dd if=/dev/zero "of=/mnt/kubelet/pods/$uid/volumes/kubernetes.io~empty-dir/files/file" bs=1M "count=$2" 2>/dev/null
}
write scratch 30; write writer 60; sync
watch_until_evicted scratch
