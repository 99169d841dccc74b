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


class Debtor:
    """Owes us something, and holds bytes as its peer's until it is cut off."""

    def __init__(self, budget: ByteBudget, peer: str, count: int) -> None:
        self._budget, self._peer, self.count = budget, peer, count
        assert budget.take(count, peer=peer)
        budget.owes(self, peer)

    def cut(self) -> None:
        self._budget.give_back(self.count, self._peer)
        self.count = 0


def counts(debtors: list[Debtor]) -> list[int]:
    return [one.count for one in debtors]


def test_who_holds_most_makes_room_for_who_wants_little_however_short_it_has_owed() -> None:
    budget = ByteBudget(100, spared_seconds=1, clock=lambda: 0.0)
    debtors = [Debtor(budget, peer, 20) for peer in ("b", "a", "a", "a", "b")]
    assert budget.take(10, peer="c")
    assert counts(debtors) == [20, 0, 20, 20, 20]
    assert budget.take(20, peer="work"), "what is being answered is as good a reason"
    assert counts(debtors) == [0, 0, 20, 20, 20]


def test_who_would_hold_about_as_much_cuts_nobody_off() -> None:
    budget = ByteBudget(100, spared_seconds=1, clock=lambda: 0.0)
    debtors = [Debtor(budget, peer, 25) for peer in ("a", "b", "a", "b")]
    assert not budget.take(26, peer="c")
    assert not budget.take(1, peer="a")
    assert counts(debtors) == [25] * 4
    assert budget.taken == 100


def test_one_peer_is_not_cut_down_to_less_than_far_more() -> None:
    budget = ByteBudget(100, spared_seconds=1, clock=lambda: 0.0)
    debtors = [Debtor(budget, peer, 25) for peer in ("a", "a", "b", "b")]
    assert budget.take(20, long=True, peer="c")
    assert counts(debtors) == [0, 25, 0, 25]


def test_who_speaks_for_many_neither_cuts_off_nor_is_cut_off_before_its_time() -> None:
    budget = ByteBudget(100, spared_seconds=1, clock=lambda: 0.0)
    proxy = Debtor(budget, "", 60)
    other = Debtor(budget, "a", 40)
    assert not budget.take(1, peer="")
    assert other.count == 40
    assert budget.take(1, peer="c")
    assert (proxy.count, other.count) == (60, 0)
