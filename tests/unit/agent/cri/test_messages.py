"""The messages that are committed are those of runtime.proto."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import bailiff.agent.cri

COMMITTED = Path(bailiff.agent.cri.__file__).parent
SERVICE = COMMITTED.parents[2]
PROTO = "bailiff/agent/cri/runtime.proto"


def test_generated_code_matches(tmp_path):
    """As `make protos` makes it."""
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{SERVICE}"]
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    outputs = [f"--python_out={tmp_path}", f"--mypy_out={tmp_path}", str(SERVICE / PROTO)]
    subprocess.run([*command, *outputs], check=True, env=os.environ | {"PATH": programs})
    for name in ("runtime_pb2.py", "runtime_pb2.pyi"):
        made = (tmp_path / PROTO).with_name(name)
        assert made.read_text() == (COMMITTED / name).read_text(), "run: make protos"
