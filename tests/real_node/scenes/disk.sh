# Two pods write into their volumes until the kubelet's disk, a loop device, is nearly full. Written
# from outside, since the image holds nothing but one program.
. "$(dirname "$SCENE")/common.inc"
configuration
for name in small big; do
    pod "$name" 20 '"volumeMounts": [{"name": "files", "mountPath": "/files"}],' \
        '"volumes": [{"name": "files", "emptyDir": {}}],'
done | kubectl apply -f -
for name in small big; do
    within 60 sh -c "kubectl get pod $name -o jsonpath='{.status.phase}' | grep -q Running"
done
pods
fill() { # POD MEBIBYTES
    uid=$(kubectl get pod "$1" -o jsonpath='{.metadata.uid}')
    dd if=/dev/zero "of=/mnt/kubelet/pods/$uid/volumes/kubernetes.io~empty-dir/files/file" bs=1M "count=$2" 2>/dev/null
}
fill small 50; sync
# What volumes hold is measured every ten seconds here: long enough for both to be known.
(sleep 25; fill big 700; sync) &
watch_until_evicted big
