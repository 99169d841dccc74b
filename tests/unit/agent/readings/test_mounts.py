"""Where cgroups are mounted, and which version counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.agent.readings.cgroup_v1 import CgroupsV1
from bailiff.agent.readings.cgroup_v2 import CgroupsV2
from bailiff.agent.readings.controllers import cgroups_of
from bailiff.agent.readings.mounts import find_mounts
from bailiff.agent.readings.places import CgroupMounts, Places

_V1 = """22 27 0:21 / /proc rw,relatime - proc proc rw
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 master:2 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
"""
_UNIFIED = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"


def _find(tmp_path: Path, text: str, root: str = "") -> CgroupMounts:
    (tmp_path / "mountinfo").write_text(text)
    return find_mounts(Places(root=root, mountinfo=str(tmp_path / "mountinfo")))


def test_controllers_of_v1_are_told_apart_by_their_options(tmp_path: Path) -> None:
    assert _find(tmp_path, _V1 + _UNIFIED) == CgroupMounts(
        memory="/sys/fs/cgroup/memory",
        cpuacct="/sys/fs/cgroup/cpu,cpuacct",
        pids="/sys/fs/cgroup/pids",
        unified="/sys/fs/cgroup/unified",
    )


def test_in_a_container_those_of_the_host_count(tmp_path: Path) -> None:
    text = """50 49 0:30 / /sys/fs/cgroup ro - cgroup2 cgroup rw,nsdelegate
60 49 0:30 /../../../.. /host/sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate
"""
    assert _find(tmp_path, text, "/host") == CgroupMounts(unified="/host/sys/fs/cgroup")
    assert _find(tmp_path, text) == CgroupMounts(unified="/host/sys/fs/cgroup")


def test_a_mount_of_a_part_shows_no_node(tmp_path: Path) -> None:
    text = "50 49 0:30 /kubepods/pod1/x /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
    assert _find(tmp_path, text) == CgroupMounts()


def test_of_two_alike_the_shorter_path_counts(tmp_path: Path) -> None:
    again = "70 31 0:32 / /a/longer/path/sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    assert _find(tmp_path, again + _V1).memory == "/sys/fs/cgroup/memory"


def test_blanks_in_a_path_are_escaped(tmp_path: Path) -> None:
    text = "41 31 0:38 / /my\\040host/c\\134g rw - cgroup2 cgroup2 rw\n"
    assert _find(tmp_path, text).unified == "/my host/c\\g"


@pytest.mark.parametrize("text", ["", "x", "41 31 0:38 / - cgroup2 cgroup2 rw", " - cgroup"])
def test_what_is_malformed_is_no_mount(tmp_path: Path, text: str) -> None:
    assert _find(tmp_path, text) == CgroupMounts()


def test_no_mountinfo_is_no_mount(tmp_path: Path) -> None:
    assert find_mounts(Places(mountinfo=str(tmp_path / "none"))) == CgroupMounts()


@given(st.binary(max_size=200))
def test_any_bytes_are_mounts_or_not(tmp_path_factory: pytest.TempPathFactory, text: bytes):
    file = tmp_path_factory.getbasetemp() / "mountinfo"
    file.write_bytes(text + b" - cgroup2 cgroup2 rw\n" + text)
    find_mounts(Places(mountinfo=str(file)))


def test_the_memory_controller_decides(tmp_path: Path) -> None:
    controllers = tmp_path / "cgroup.controllers"
    controllers.write_text("cpuset cpu io memory pids\n")
    unified = str(tmp_path)
    assert isinstance(cgroups_of(CgroupMounts(unified=unified)), CgroupsV2)
    both = CgroupMounts(memory="/sys/fs/cgroup/memory", unified=unified)
    assert isinstance(cgroups_of(both), CgroupsV1)
    controllers.write_text("cpuset cpu io memory_recursiveprot pids\n")
    assert cgroups_of(CgroupMounts(unified=unified)) is None
    assert cgroups_of(CgroupMounts(unified=str(tmp_path / "none"))) is None
    assert cgroups_of(CgroupMounts()) is None


@pytest.mark.parametrize("cgroup", ["..", "/a/../b", "/a//b", "./a", "/a\0"])
def test_a_cgroup_does_not_lead_elsewhere(cgroup: str) -> None:
    with pytest.raises(ValueError, match="cgroup"):
        Places(cgroup=cgroup)


def test_paths_are_those_of_the_host() -> None:
    places = Places(root="/host/", cgroup="/some/path/", image_dir="/images")
    assert places.node == "/some/path"
    assert places.images == places.containers == "/host/images"
    assert Places(container_dir="/layers").containers == "/layers"
    assert Places(root="/host").images == "/host/var/lib/kubelet"
    assert Places(cgroup="/").node == ""
