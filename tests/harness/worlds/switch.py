"""A lead that comes and goes as a test has it."""

from __future__ import annotations

from bailiff.worker import Unopposed


class Switch(Unopposed):
    """Acts while a test lets it."""

    def __init__(self) -> None:
        self.acts = True

    def may_act(self) -> bool:
        return self.acts
