"""Tokens: how they are sent, and the file of them."""

import asyncio
import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bailiff.access import StaticTokens, TokenFileError, UnauthenticatedError
from bailiff.access.bearer import as_text, bearer_token, digest
from bailiff.file_watch import MAX_BYTES

AUTHORIZATION = b"authorization"


@pytest.mark.parametrize(
    ("values", "token"),
    [
        ([], None),
        ([b"Bearer abc"], b"abc"),
        ([b"bearer abc"], b"abc"),
        ([b"BEARER  abc "], b"abc"),
        ([b"Bearer " + b"t" * 50], b"t" * 50),
    ],
)
def test_the_token_of_a_request(values, token):
    headers = [(b"host", b"a"), *((AUTHORIZATION, value) for value in values)]
    assert bearer_token(headers, 50) == token


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([b"Bearer a", b"Bearer b"], "more than one"),
        ([b"Bearer a", b"Bearer a"], "more than one"),
        ([b"Basic YTpi"], "must be Bearer"),
        ([b"Bearerabc"], "must be Bearer"),
        ([b"Bearer"], "must be Bearer"),
        ([b""], "must be Bearer"),
        ([b"Bearer " + b"t" * 51], "at most 50 bytes"),
    ],
)
def test_what_is_no_bearer_token_is_refused(values, why):
    with pytest.raises(UnauthenticatedError, match=why) as caught:
        bearer_token([(AUTHORIZATION, value) for value in values], 50)
    assert caught.value.challenge.startswith('Bearer realm="bailiff"')


@pytest.mark.parametrize("token", [b"", b"a b", b"a\tb", "ü".encode(), b"\x00", b"a\x7f"])
def test_what_cannot_be_a_token_is_shown_to_nobody(token):
    with pytest.raises(UnauthenticatedError, match="no token"):
        as_text(token)


def test_a_digest_does_not_tell_the_token():
    assert digest(b"abc") == digest(b"abc") != digest(b"abd")
    assert b"abc" not in digest(b"abc")


def written(folder: Path, text: str) -> Path:
    path = folder / "tokens.csv"
    path.write_text(text)
    path.chmod(0o600)
    return path


def who(tokens: StaticTokens, token: str):
    caller = tokens.find(digest(token.encode()))
    return None if caller is None else (caller.name, caller.uid, caller.groups)


KNOWN = "system:authenticated"


def test_a_file_as_kube_apiserver_takes_it(tmp_path):
    tokens = StaticTokens(
        written(tmp_path, 'one,alice,1,"ops,admins"\n\ntwo,bob,2\nthree,carol,,ops\n')
    )
    assert who(tokens, "one") == ("alice", "1", ("ops", "admins", KNOWN))
    assert who(tokens, "two") == ("bob", "2", (KNOWN,))
    assert who(tokens, "three") == ("carol", "", ("ops", KNOWN))
    assert who(tokens, "on") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no token"),
        ("\n\n", "no token"),
        ("s3cret,alice\n", "entry 1: must be token,user,uid"),
        ("a,b,c,d,e\n", "entry 1"),
        ("s3cret,alice,1\n,bob,2\n", "entry 2: token and user"),
        ("s3cret,,1\n", "token and user"),
        ("s3 cret,alice,1\n", "has spaces"),
        ("s3crét,alice,1\n", "ASCII"),
        ("s3cret,alice,1\ns3cret,bob,2\n", "entry 2: its token has been given"),
        ('s3cret,alice,1,"ops\n', "is not CSV"),
        ("x" * (MAX_BYTES + 1), "larger than"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_without_telling_a_token(tmp_path, text, why):
    with pytest.raises(TokenFileError, match=why) as caught:
        StaticTokens(written(tmp_path, text))
    assert "s3cr" not in str(caught.value)


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "none"):
        with pytest.raises(TokenFileError):
            StaticTokens(path)


@pytest.fixture
async def watched(tmp_path):
    tokens = StaticTokens(written(tmp_path, "one,alice,1\n"), look_every=0.01)
    task = asyncio.create_task(tokens.run())
    yield tokens, tmp_path / "tokens.csv"
    task.cancel()


async def until(condition):
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_changed_file_is_read_again(watched):
    tokens, path = watched
    path.write_text("two,bob,2\n")
    await until(lambda: who(tokens, "two"))
    assert who(tokens, "one") is None


async def test_a_file_that_cannot_be_used_any_more_changes_nothing(watched):
    tokens, path = watched
    with capture_logs() as logs:
        path.write_text("s3cret\n")
        await until(lambda: logs)
        path.unlink()
        await until(lambda: len(logs) == 2)
    assert [line["event"] for line in logs] == ["tokens not changed"] * 2
    assert "s3cret" not in str(logs)
    assert who(tokens, "one")
    path.write_text("two,bob,2\n")
    await until(lambda: who(tokens, "two"))


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, False), (0o644, True)])
async def test_a_file_that_everybody_may_read_is_warned_of(tmp_path, mode, warned):
    path = written(tmp_path, "one,alice,1\n")
    path.chmod(mode)
    with capture_logs() as logs:
        task = asyncio.create_task(StaticTokens(path, look_every=0.01).run())
        await asyncio.sleep(0)
        if warned:
            await until(lambda: logs)
        else:
            await asyncio.sleep(0.05)
        task.cancel()
    assert [line["event"] for line in logs] == [
        "everybody on this machine may read the tokens"
    ] * warned
