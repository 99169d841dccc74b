"""Which cgroups are those of pods and of their containers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.agent.readings.pod_cgroups import PodCgroups, containers_in, pod_cgroups
from tests.unit.agent.readings.hosts import CONTAINER, STATIC_UID, UID

_OF_MINE = "my-kubepods-besteffort"
_ESCAPED = UID.replace("-", "_")


def _find(tmp_path: Path, *folders: str, node: str = "", known: tuple[str, ...] = ()):
    for one in folders:
        (tmp_path / one).mkdir(parents=True)
    return pod_cgroups(lambda path: f"{tmp_path}{path}", node, known)


@pytest.mark.parametrize(
    "path",
    [
        f"kubepods/pod{UID}",
        f"kubepods/burstable/pod{UID}",
        f"kubepods/besteffort/pod{UID}",
        f"kubepods.slice/kubepods-pod{_ESCAPED}.slice",
        f"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{_ESCAPED}.slice",
        f"my.slice/my-kubepods.slice/{_OF_MINE}.slice/{_OF_MINE}-pod{_ESCAPED}.slice",
    ],
)
def test_a_pod_of_either_driver(tmp_path: Path, path: str) -> None:
    node = "/my.slice" if path.startswith("my") else ""
    found = _find(tmp_path, path, node=node)
    assert found.by_uid == {UID: f"/{path}"}
    of_all = path.removeprefix("my.slice/").split("/")[0]
    assert found.of_all == f"{node}/{of_all}"


def test_a_static_pod_has_a_uid_without_dashes(tmp_path: Path) -> None:
    assert STATIC_UID in _find(tmp_path, f"kubepods/burstable/pod{STATIC_UID}").by_uid
    systemd = f"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{STATIC_UID}.slice"
    assert STATIC_UID in _find(tmp_path / "other", systemd).by_uid


def test_pods_directly_below_another_cgroup(tmp_path: Path) -> None:
    found = _find(tmp_path, f"some/path/pod{UID}", f"pod{STATIC_UID}", node="/some/path")
    assert found == PodCgroups(None, {UID: f"/some/path/pod{UID}"})


def test_what_only_begins_like_a_pod_is_none_unless_it_is_known(tmp_path: Path) -> None:
    found = _find(tmp_path, "podman", "podruntime.slice", "kubepods/pod1", known=("1",))
    assert found.by_uid == {"1": "/kubepods/pod1"}


def test_no_other_folder_is_entered(tmp_path: Path) -> None:
    found = _find(tmp_path, f"system.slice/pod{UID}", f"kubepods/other/pod{UID}")
    assert found == PodCgroups("/kubepods", {})


def test_links_and_files_are_no_cgroups(tmp_path: Path) -> None:
    (tmp_path / "kubepods").mkdir()
    (tmp_path / f"kubepods/pod{UID}").symlink_to("/")
    (tmp_path / f"kubepods/pod{STATIC_UID}").write_text("")
    assert _find(tmp_path).by_uid == {}


def test_no_cgroups_at_all(tmp_path: Path) -> None:
    assert _find(tmp_path, node="/gone") == PodCgroups(None, {})


@pytest.mark.parametrize(
    ("name", "container"),
    [
        (CONTAINER, CONTAINER),
        (f"cri-containerd-{CONTAINER}.scope", CONTAINER),
        (f"crio-{CONTAINER}.scope", CONTAINER),
        (f"crio-{CONTAINER}", CONTAINER),
        (f"docker-{CONTAINER}.scope", CONTAINER),
        (f"crio-conmon-{CONTAINER}.scope", None),
        (f"{CONTAINER}.mount", None),
    ],
)
def test_the_id_of_a_container(tmp_path: Path, name: str, container: str | None) -> None:
    (tmp_path / name).mkdir()
    assert containers_in(str(tmp_path)) == ({} if container is None else {container: name})


def test_a_pod_that_is_gone_has_no_containers(tmp_path: Path) -> None:
    assert containers_in(str(tmp_path / "gone")) == {}


_NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), max_size=40)


@given(_NAMES, st.sampled_from(["", "pod", "kubepods-pod"]), st.sampled_from(["", ".slice"]))
def test_any_name_is_a_pod_or_not(
    tmp_path_factory: pytest.TempPathFactory, name: str, first: str, last: str
) -> None:
    top = tmp_path_factory.mktemp("any")
    (top / "kubepods" / f"{first}{name}{last}").mkdir(parents=True, exist_ok=True)
    found = pod_cgroups(lambda path: f"{top}{path}", "", (name,))
    assert all((top / path[1:]).is_dir() for path in found.by_uid.values())
    containers_in(f"{top}/kubepods")
