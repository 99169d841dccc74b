# Without a kubelet: what the kernel tells of memory, and what is read of cgroups, on cgroup v2.
cd "$PYTHONPATH/.." || fail "the repository"
export PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY=/mnt/hypothesis
python="${BAILIFF%% *}"
"$python" -m pytest -n0 -p no:cacheprovider --basetemp /mnt/pytest -vv -s \
    tests/node/test_notices.py tests/node/test_memory_events.py > /mnt/log/pytest.log 2>&1 && passed=yes
tail -n 100 /mnt/log/pytest.log
if [ "$passed" ]; then echo notices > /mnt/end; record end /mnt/end; fi
