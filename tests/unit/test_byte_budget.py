from bailiff.serving import ByteBudget


def test_what_fits_is_taken_and_what_does_not_takes_nothing():
    budget = ByteBudget(10)
    assert budget.take(7)
    assert not budget.take(4)
    assert budget.taken == 7
    assert budget.take(3)


def test_what_is_given_back_can_be_taken_again():
    budget = ByteBudget(10)
    budget.take(10)
    budget.give_back(6)
    assert budget.take(6)
    assert budget.taken == 10
