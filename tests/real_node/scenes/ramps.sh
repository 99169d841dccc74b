# Without a kubelet: processes fill a cgroup v2 that stands for a node, beside an agent.
cd "$PYTHONPATH/.." || fail "the repository"
export PYTHONDONTWRITEBYTECODE=1 KUBEBUILDER_ASSETS="$PROGRAMS"
if "${BAILIFF%% *}" -m tests.real_node.ramps 2>&1; then echo ramps > /mnt/end; record end /mnt/end; fi
