# The disk gets nearly full beside 50 images and some 30 dead containers, of which the kubelet frees so
# many that no pod has to go. It looks at images every five minutes, and one look has to come after all
# pods are there: so the scene takes ten minutes, or fifteen where that is the third.
. "$(dirname "$SCENE")/common.inc"
. "$(dirname "$SCENE")/garbage.inc"
log=/mnt/log/kubelet.log
configuration
bring later; pin later-4
# Some run, some have ended for good, some are deleted later. Volumes are images, too.
{
    several steady "$(container main early-1), $(container side later-1), $(container once early-16 "$ends"), $(container twice early-16 "$ends")" \
        "$(container first early-15 "$ends")"
    several reader "$(container main early-3 "" ', "volumeMounts": [{"name": "one", "mountPath": "/one"}, {"name": "two", "mountPath": "/two"}]')" "" \
        "\"volumes\": [$(volume one early-13), $(volume two later-5)],"
    several done-1 "$(container a early-4 "$ends"), $(container b early-4 "$ends"), $(container c early-5 "$ends"), $(container d later-2 "$ends"), $(container e later-2 "$ends")" "$(container first later-3 "$ends")"
    several done-2 "$(container a early-5 "$ends"), $(container b early-6 "$ends"), $(container c later-2 "$ends"), $(container d later-3 "$ends"), $(container e later-3 "$ends")" "$(container first early-5 "$ends")"
    several done-3 "$(container a early-6 "$ends" ', "volumeMounts": [{"name": "one", "mountPath": "/one"}]'), $(container b early-5 "$ends"), $(container c early-5 "$ends")" \
        "$(container first early-7 "$ends"), $(container second early-1 "$ends")" "\"volumes\": [$(volume one early-14)],"
    several failed "$(container a early-4 "$fails"), $(container b early-20 "$fails"), $(container c later-1 "$fails"), $(container d later-1 "$fails")"
    several gone-1 "$(container a early-9), $(container b early-10), $(container c later-6)"
    several gone-2 "$(container a early-9), $(container b early-9 "$ends"), $(container c early-1)"
    several lost "$(container main early-18)" "" '"restartPolicy": "Always",' | sed 's/"restartPolicy": "Never",//'
} | kubectl apply -f -
phases() { # PHASE POD...
    phase=$1; shift
    for name in "$@"; do
        within 200 sh -c "kubectl get pod $name -o jsonpath='{.status.phase}' | grep -q $phase"
    done
}
phases Running steady reader gone-1 gone-2 lost static-runs-node
phases Succeeded done-1 done-2 done-3 static-ends-node
phases Failed failed
# Its pause container ends, so that the pod is given another sandbox.
kill -9 "$(ctr --namespace k8s.io tasks ls | awk -v id="$("$WORK/cri" sandbox lost)" '$1 == id {print $2}')"
within 60 sh -c "kubectl get pod lost -o jsonpath='{.status.containerStatuses[0].restartCount}' | grep -q 1"
tell "the pods are as they are to be"
said() { grep -c "$1" "$log"; } # how often the kubelet has
again() { # SECONDS WORDS: until it says that once more
    words=$2; before=$(said "$words")
    within "$1" sh -c "[ \$(grep -c '$words' $log) -gt $before ]"
}
again 400 'Setting Image ID lastUsed'
sleep 5
lists lists-at-look
tell "the kubelet has looked at its images"
# These come after that look, so that the kubelet sees them when the disk is full, and not before.
bring young
several fresh "$(container main young-1)" | kubectl apply -f -
phases Running fresh
sleep 125
bring newest
# Every minute it removes what deleted pods have left: right after that there is time.
again 70 'Container garbage collection succeeded'
ticks=$(said 'Container garbage collection succeeded')
tell "the kubelet has removed what deleted pods had left"
kubectl delete pod gone-1 gone-2 --wait=false
"$WORK/cri" extra steady extra 3 docker.io/local/early-21:1 || fail "extra"
"$WORK/cri" stray 01234567-89ab-cdef-0123-456789abcdef 3 docker.io/local/early-22:1 || fail "stray"
within 30 sh -c '! kubectl get pod gone-1 && ! kubectl get pod gone-2'
tell "there are dead containers"
lists lists-before; pods
fallocate -l "$(($(df --output=avail -B1M /mnt | tail -n 1) - 980))M" /mnt/full
tell "the disk is full"
for _ in $(seq 60); do grep -qE 'able to reduce resource pressure|must evict pod' "$log" && break; sleep 1; done
[ "$ticks" = "$(said 'Container garbage collection succeeded')" ] || fail "this machine is too slow: the minute was over"
sleep 3
lists lists-after; pods; node
kubectl get events -A -o json > /mnt/events; record events /mnt/events
grep -E 'Image ID is new|Setting Image ID lastUsed|Removing (image|container|sandbox)|Image ID was used too|less than the policy|is pinned, skip|Attempting to delete unused|ontainer garbage collection|able to reduce resource|must evict pod|Failed to remove' "$log" > /mnt/said
record log /mnt/said
echo garbage > /mnt/end; record end /mnt/end
