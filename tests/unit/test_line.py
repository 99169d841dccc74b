"""Who is next where many wait."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.line import Line


def popped(line: Line[str], number: int) -> str:
    return " ".join(line.pop() for _ in range(number))


def of(*items: str) -> Line[str]:
    """Items as `a1`, of the peer `a`."""
    line: Line[str] = Line()
    for item in items:
        line.add(item[0], item)
    return line


@pytest.mark.parametrize(
    ("items", "order"),
    [
        ("a1 a2 a3", "a1 a2 a3"),
        ("a1 a2 a3 b1 b2", "a1 b1 a2 b2 a3"),
        ("a1 a2 b1 c1 c2 c3", "a1 b1 c1 a2 c2 c3"),
    ],
)
def test_peers_take_turns_each_in_its_own_order(items: str, order: str) -> None:
    line = of(*items.split())
    assert popped(line, len(line)) == order
    with pytest.raises(IndexError):
        line.pop()


def test_who_had_nothing_here_goes_first() -> None:
    line = of("a1", "a2", "b1", "b2")
    assert popped(line, 2) == "a1 b1"
    line.add("c", "c1")
    assert popped(line, 3) == "c1 a2 b2"


def test_who_comes_again_at_once_does_not_go_first_again() -> None:
    line = of("a1", "a2", "a3")
    line.add("c", "c1")
    assert popped(line, 2) == "a1 c1"
    line.add("c", "c2")
    assert popped(line, 3) == "a2 c2 a3"


def test_a_peer_that_may_not_be_next_keeps_its_place() -> None:
    line = of("a1", "a2", "b1", "c1", "c2")
    assert [line.pop(but={"a"}), line.pop(but={"a", "b"})] == ["b1", "c1"]
    assert line.pop(but={"b"}) == "a1"
    assert line.pop(but={"a"}) == "c2"
    with pytest.raises(IndexError):
        line.pop(but={"a"})
    assert len(line) == 1
    assert line.pop() == "a2"


def test_what_is_put_back_comes_as_it_would_have() -> None:
    line = of("a1", "a2", "b1", "c1", "c2")
    taken = [line.pop() for _ in range(4)]
    for item in reversed(taken[1:]):
        line.put_back(item[0], item)
    assert (taken[0], popped(line, 4)) == ("a1", "b1 c1 a2 c2")


def test_what_is_put_back_of_a_peer_that_came_again_is_its_next() -> None:
    line = of("a1")
    first = line.pop()
    line.add("a", "a2")
    line.put_back("a", first)
    assert (len(line), popped(line, 2)) == (2, "a1 a2")


def test_the_last_of_a_peer_goes_out_of_its_turn() -> None:
    line = of("a1", "a2", "a3", "b1")
    assert line.pop() == "a1"
    assert line.pop_last("a") == "a3"
    assert (len(line), popped(line, 2)) == (2, "b1 a2")
    with pytest.raises(LookupError):
        line.pop_last("a")


def test_what_is_waited_for_no_longer_is_taken_out() -> None:
    line = of("a1", "a2", "b1", "c1")
    found = [line.remove(item[0], item) for item in ("a2", "b1", "b1", "d1", "a9")]
    assert found == [True, True, False, False, False]
    assert (len(line), popped(line, 2)) == (2, "a1 c1")


def test_nothing_is_left_of_peers_that_wait_no_longer() -> None:
    line = of(*"abc")
    for number in range(1000):
        line.add(f"{number}", "x")
        line.remove(f"{number}", "x")
    assert line.pop() == "a"
    assert [*line._fresh] == ["b", "c"]
    line.remove("b", "b"), line.remove("c", "c")
    assert not line._fresh
    assert not line._others


@given(st.lists(st.one_of(st.sampled_from("abcd"), st.sampled_from(["pop", "put back"]))))
def test_nothing_is_lost_and_each_peer_keeps_its_order(steps: list[str]) -> None:
    line: Line[tuple[str, int]] = Line()
    came: list[tuple[str, int]] = []
    for number, step in enumerate(steps):
        if step in ("pop", "put back"):
            if len(line):
                peer, item = line.pop()
                if step == "pop":
                    came.append((peer, item))
                else:
                    line.put_back(peer, (peer, item))
        else:
            line.add(step, (step, number))
    came += [line.pop() for _ in range(len(line))]
    added = [(step, number) for number, step in enumerate(steps) if step in "abcd"]
    assert sorted(came) == sorted(added)
    for peer in "abcd":
        assert [one for one in came if one[0] == peer] == [one for one in added if one[0] == peer]
