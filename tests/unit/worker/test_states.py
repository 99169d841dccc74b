"""The life of an eviction is what its table says, and those cause it whom the table names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

import bailiff
from bailiff.worker.timers.eviction import Eviction
from bailiff.worker.timers.states import (
    BEGIN,
    DROP,
    ENTER,
    FORGET,
    HAND_OVER,
    HASTEN,
    LEAVE,
    MOVES,
    OVER,
    PUT_OFF,
    RELEASE,
    REPLACE,
    RETRY,
    REVOKE,
    TAKE,
    UPDATE,
    LifecycleError,
    Move,
    State,
)
from tests.harness.eviction_table import Table, done, held, running, waiting

WORKER = Path(bailiff.__file__).parent / "worker"


def hasten(table: Table, eviction: Eviction) -> None:
    """It was evicted and is still there, terminating; now it is to be gone at once."""
    pod = eviction.pod
    ending = replace(pod.metadata, deletion_timestamp=table.clock.now())
    at_once = replace(eviction.finding, grace_period_seconds=0)
    table.pending.schedule(replace(pod, metadata=ending), at_once)


IN: dict[State, Callable[[Table], Eviction]] = {
    State.WAITING: waiting,
    State.HELD: held,
    State.RUNNING: running,
    State.DONE: done,
}
ACTS: dict[Move, Callable[[Table, Eviction], object]] = {
    REPLACE: lambda table, _: table.schedule(99),
    HASTEN: hasten,
    UPDATE: lambda table, _: table.schedule(),
    REVOKE: lambda table, one: table.pending.revoke(one.uid, "why"),
    LEAVE: lambda table, one: table.pending.leave(one.pod),
    FORGET: lambda table, one: table.pending.forget(one.uid),
    TAKE: lambda table, _: table.pending.take(),
    HAND_OVER: lambda table, _: table.pending.hand_over(),
    BEGIN: lambda table, one: table.pending.begin(one),
    RELEASE: lambda table, one: table.pending.release(one),
    OVER: lambda table, one: table.pending.settle_over(one, "deleted", 5.0),
    RETRY: lambda table, one: table.pending.settle_retry(one, "denied", 5.0),
    PUT_OFF: lambda table, one: table.pending.settle_put_off(one),
    DROP: lambda table, one: table.pending.settle_dropped(one),
}
CASES = [
    pytest.param(move, state, id=f"{move.name} of one that is {state.value}")
    for move in ACTS
    for state in move.to
    if state is not None
]
# Nobody asks for these by the entry: it is that which is due, or has another deadline.
UNASKED = (REPLACE, HASTEN, UPDATE, TAKE, HAND_OVER)
FORBIDDEN = [
    pytest.param(move, state, id=f"{move.name} of one that is {state.value}")
    for move in ACTS
    if move not in UNASKED
    for state in State
    if state not in move.to
]


def test_every_move_is_tried_here() -> None:
    assert {*ACTS, ENTER} == set(MOVES)


@pytest.mark.parametrize(("move", "state"), CASES)
def test_what_may_happen_leads_where_the_table_says(move: Move, state: State) -> None:
    table = Table()
    eviction = IN[state](table)
    table.clock.advance(60)
    ACTS[move](table, eviction)
    after = move.to[state]
    left = table.pending.get(eviction.uid)
    assert (left is eviction) is (after is not None)
    if after is not None:
        assert eviction.state is after
    table.counts()


@pytest.mark.parametrize(("move", "state"), FORBIDDEN)
def test_what_the_table_does_not_name_is_a_fault_and_moves_nothing(
    move: Move, state: State
) -> None:
    table = Table()
    eviction = IN[state](table)
    with pytest.raises(LifecycleError):
        ACTS[move](table, eviction)
    assert table.entry() is eviction
    assert eviction.state is state
    table.counts()


def test_one_that_enters_is_what_the_table_says() -> None:
    assert waiting(Table()).state is ENTER.to[None]


def calls(path: Path) -> Iterator[str]:
    """The methods that a module calls on what it names `pending`."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Attribute(attr="_pending" | "pending") | ast.Name(id="pending"),
                    attr=str(name),
                )
            ):
                yield name


def who(path: Path) -> str:
    """As the table names whoever acts."""
    return "gate" if path.parent.name == "gate" else path.stem


def test_nobody_moves_an_entry_but_whom_the_table_names() -> None:
    allowed: dict[str, set[str]] = {}
    for move in MOVES:
        allowed.setdefault(move.name, set()).update(one.value for one in move.by)
    seen: dict[str, set[str]] = {}
    for path in WORKER.rglob("*.py"):
        for name in calls(path):
            if name in allowed:
                seen.setdefault(name, set()).add(who(path))
    assert seen == allowed
