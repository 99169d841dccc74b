# The kubelet's own thresholds are off: Bailiff's worker watches the node, and evicts there.
. "$(dirname "$SCENE")/common.inc"
configuration
printf 'kind: KubeletConfiguration\nevictionHard: {memory.available: 600Mi}\n' > /mnt/thresholds.yaml
printf token > /mnt/kubelet-token
$BAILIFF worker --kubeconfig /mnt/kubeconfig --pressure --pressure-config /mnt/thresholds.yaml \
    --kubelet-insecure-tls --kubelet-token-file /mnt/kubelet-token --pressure-interval 5 --status-port 18081 --health-port 18083 > /mnt/log/bailiff.log 2>&1 &
worker=$!
within 200 curl -sf http://127.0.0.1:18081/readyz
tell "Bailiff's worker is ready"
{ pod greedy 700 '"resources": {"requests": {"memory": "10Mi"}},'; pod calm 20 '"resources": {"requests": {"memory": "100Mi"}},'; } | kubectl apply -f -
pods
for _ in $(seq 120); do
    kubectl get pod greedy -o json > /mnt/greedy 2>/dev/null && record greedy /mnt/greedy || break
    sleep 1
done
pods; node
kubectl get events -A -o json > /mnt/events; record events /mnt/events
curl -s http://127.0.0.1:18081/metrics | grep -E '^(kubelet_evict|bailiff_worker_pressure)' > /mnt/metrics; record metrics /mnt/metrics
kill "$worker"; wait "$worker"
record log /mnt/log/bailiff.log
echo greedy > /mnt/end; record end /mnt/end
