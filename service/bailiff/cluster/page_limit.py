"""How many objects the next page of a list is asked for, so that its answer is not too long.

A page is bounded in objects, an answer in bytes, and nobody knows beforehand how long objects are:
Go writes `<` in six characters, so that a pod of 1.5 MB in etcd has 9 MB of JSON, and eight such
pods exceed an answer. A list that failed by them would fail for ever, and with it whoever waits.
"""

from __future__ import annotations

# A page that was too long is asked for again with this part of the objects: from 500 it takes three
# tries to come to what fits, each of which costs a whole answer.
_CUT = 4
# After a page that left room for twice as much twice over the next has twice as many objects. Thus
# one crowd of long ones does not leave a list of 150,000 in pages of a few, which the server would
# forget half way; and pages that are as long as the one before do not become too long again.
_GROWTH = 2


class PageLimit:
    """The limit of one list. The next list begins with a new one: the long ones may be gone.

    Attributes:
        objects: how many to ask for, 1 and up.
    """

    def __init__(self, most: int, max_bytes: int) -> None:
        """Begin with the most.

        Args:
            most: objects to a page.
            max_bytes: of an answer.
        """
        self.objects = most
        self._most = most
        self._max_bytes = max_bytes

    def shrink(self) -> bool:
        """The page was too long. False: it had one object, and there is no shorter one."""
        before, self.objects = self.objects, max(1, self.objects // _CUT)
        return self.objects < before

    def fitted(self, size: int) -> None:
        """A page of so many bytes has come."""
        if size * _GROWTH**2 <= self._max_bytes:
            self.objects = min(self.objects * _GROWTH, self._most)
