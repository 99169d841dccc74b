"""Small files: in whole or not at all, and numbers that are right or None."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.agent.readings.files import (
    device,
    field,
    is_plain,
    is_there,
    line_of,
    number,
    number_in,
    read,
)
from bailiff.kinds.meta import INT64_MAX


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"0", 0),
        (b" 4096\n", 4096),
        (b"9223372036854775807\n", INT64_MAX),
        (b"9223372036854775808\n", None),
        (b"18446744073709551615\n", None),
        (b"00000000000000000001", None),
        (b"max\n", None),
        (b"-1\n", None),
        (b"+1\n", None),
        (b"1_000", None),
        (b"1 2", None),
        (b"1.5", None),
        ("\N{ARABIC-INDIC DIGIT ONE}".encode(), None),
        (b"", None),
    ],
)
def test_a_number_is_a_count_that_an_int64_holds(text: bytes, expected: int | None) -> None:
    assert number(text) == expected


@given(st.binary(max_size=40))
def test_any_bytes_are_a_number_or_none(text: bytes) -> None:
    found = number(text)
    assert found is None or (0 <= found <= INT64_MAX and int(text) == found)


def test_a_file_is_read_up_to_its_bound_and_not_beyond(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100)
    assert read(str(file), 100) == b"x" * 100
    assert read(str(file), 99) is None


def test_what_is_no_file_is_none(tmp_path: Path) -> None:
    assert read(str(tmp_path / "nothing")) is None
    assert read(str(tmp_path)) is None
    assert read(f"{tmp_path}\0") is None


def test_a_pipe_makes_nobody_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read(str(tmp_path / "pipe")) == b""
    assert number_in(str(tmp_path / "pipe")) is None


def test_a_file_that_the_kernel_hands_out_in_pieces_is_whole(monkeypatch: pytest.MonkeyPatch):
    pieces = [b"one\n", b"two\n", b""]
    monkeypatch.setattr(os, "read", lambda _file, _most: pieces.pop(0))
    assert read("/dev/null") == b"one\ntwo\n"


def test_a_cgroup_that_is_removed_while_it_is_read_is_none(monkeypatch: pytest.MonkeyPatch):
    def gone(_file: int, _most: int) -> bytes:
        raise OSError(19, "No such device")

    monkeypatch.setattr(os, "read", gone)
    assert read("/dev/null") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"anon 5\nfile 7\n", 5),
        (b"inactive_anon 1\nanon 5", 5),
        (b"anon 5 kB\n", 5),
        (b"inactive_anon 1\n", None),
        (b"anon\n", None),
        (b"anon \n", None),
        (b"anon x\n", None),
        (b"", None),
    ],
)
def test_a_field_is_that_of_its_whole_name(text: bytes, expected: int | None) -> None:
    assert field(text, b"anon ") == expected


@given(st.binary(max_size=80))
def test_any_bytes_have_a_field_or_none(text: bytes) -> None:
    line = line_of(text, b"a ")
    found = field(text, b"a ")
    assert found is None or (line is not None and 0 <= found <= INT64_MAX)


def test_what_is_there_has_a_device(tmp_path: Path) -> None:
    assert device(str(tmp_path)) == tmp_path.stat().st_dev
    assert is_there(str(tmp_path))
    assert not is_there(str(tmp_path / "none"))
    assert not is_there("\0")


def test_names_that_lead_elsewhere_are_not_plain() -> None:
    assert is_plain("web-0")
    assert not any(map(is_plain, ("", ".", "..", "a/b", "/", "a\0b")))
