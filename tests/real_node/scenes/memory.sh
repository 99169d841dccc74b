# A pod takes 700 MiB beside a calm one, until the kubelet evicts it.
. "$(dirname "$SCENE")/common.inc"
configuration
{ pod greedy 700 '"resources": {"requests": {"memory": "10Mi"}},'; pod calm 20 '"resources": {"requests": {"memory": "100Mi"}},'; } | kubectl apply -f -
pods
watch_until_evicted greedy
