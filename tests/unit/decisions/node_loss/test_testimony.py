"""How far a fence is believed, by the signs of life that follow what it says."""

from __future__ import annotations

import math

import pytest

from bailiff.decisions.node_loss.facts import OffProof
from bailiff.decisions.node_loss.testimony import FenceTestimony
from tests.unit.decisions.node_loss.scene import OUT_OF_SERVICE, Asked

OFF, ON = OffProof(off=True, by="http"), OffProof(off=False, by="http", message="On")
NODE, TAINTED = Asked().node, Asked(taints=(OUT_OF_SERVICE,)).node


def told(*said: tuple[OffProof, float], seen: bool = True) -> FenceTestimony:
    found = FenceTestimony()
    for answer, elapsed in said:
        found.hear(answer, elapsed)
        if seen:
            found.proof = answer
    return found


def test_off_counts_once_the_node_was_looked_at():
    heard = told((OFF, 1), seen=False)
    assert (heard.says_off, heard.is_off_unseen, heard.is_off, heard.believed) == (
        True,
        True,
        False,
        None,
    )
    seen = told((OFF, 1))
    assert (seen.is_off_unseen, seen.is_off, seen.believed) == (False, True, OFF)


def test_anything_else_counts_at_once():
    heard = told((ON, 1), seen=False)
    assert (heard.says_off, heard.believed) == (False, ON)


@pytest.mark.parametrize("sign_at", [-math.inf, 4, 5])
def test_no_sign_of_life_that_came_before_refutes(sign_at):
    found = told((OFF, 5))
    found.weigh(NODE, sign_at)
    assert (found.is_off, found.refuted) == (True, "")


def test_the_first_sign_has_it_asked_again_and_the_second_refutes_it():
    found = told((OFF, 5))
    found.weigh(NODE, 6)
    assert (found.answer, found.is_off, found.distrust) == (None, False, "")
    assert "another machine" in found.against(NODE, lives=True)
    found.hear(OFF, 7)
    found.weigh(NODE, 8)
    assert "another machine" in found.distrust
    assert found.against(NODE, lives=False) == found.distrust


def test_a_machine_that_was_switched_on_in_between_refutes_nothing():
    found = told((OFF, 5))
    found.weigh(NODE, 6)
    found.hear(ON, 7)
    assert found.against(NODE, lives=True) == ""
    found.hear(OFF, 20)
    found.weigh(NODE, 21)
    assert found.distrust == ""


def test_a_person_is_believed_of_a_node_that_does_not_live():
    found = FenceTestimony()
    found.distrust = "why"
    assert found.against(TAINTED, lives=False) == ""
    assert found.against(TAINTED, lives=True) == "why"
    assert found.against(NODE, lives=False) == "why"


def test_distrust_outlives_the_loss_of_all_else():
    found = told((OFF, 5))
    found.distrust = "why"
    found.forget()
    assert (found.answer, found.proof, found.distrust) == (None, None, "why")
