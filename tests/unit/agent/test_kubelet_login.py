"""Whom the cluster's token is shown to: a kubelet that has proven who it is."""

from __future__ import annotations

import pytest

from bailiff.agent.settings import KubeletAccess
from bailiff.bootstrap.agent_kubelet import _kubelet_login
from bailiff.cluster.login import Login

API = Login("https://10.0.0.1:6443", authorization="Bearer of-the-cluster")


@pytest.mark.parametrize(
    ("url", "insecure", "own", "shown"),
    [
        ("https://127.0.0.1:10250", False, "", "Bearer of-the-cluster"),
        ("https://127.0.0.1:10250", True, "", None),
        ("https://127.0.0.1:10250", False, "own", "Bearer own"),
        ("https://127.0.0.1:10250", True, "own", "Bearer own"),
        # Whoever listens there on this machine would read it.
        ("http://127.0.0.1:10255", False, "", None),
        ("http://127.0.0.1:10255", True, "", None),
        ("http://localhost:10255", False, "", None),
        ("http://127.0.0.1:10255", False, "own", "Bearer own"),
    ],
)
def test_what_is_shown(tmp_path, url, insecure, own, shown):
    token = tmp_path / "token"
    token.write_text(own)
    access = KubeletAccess(url=url, insecure=insecure, token_file=str(token) if own else "")
    assert _kubelet_login(access, "node", API).authorization == shown


def test_without_an_api_server_nothing_is_shown():
    assert _kubelet_login(KubeletAccess(), "node", None).authorization is None
