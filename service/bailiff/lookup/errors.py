"""What may go wrong when objects of a cluster are looked up; each face says it in its own way.

LookUpError
├── MissingError        there is no such object
├── ForbiddenError      the account may not read it: which permission it needs
├── NotServedError      the cluster has no such kind of objects
├── UnavailableError    the cluster cannot be asked now; trying again may help
├── BusyError           too many are looked up at a time; trying again will help
├── FailedError         the cluster's answer is of no use
└── TooManyError        the cluster has more than can be answered for
"""

from __future__ import annotations


class LookUpError(Exception):
    """An object could not be looked up; the message says which, why, and what to do about it."""


class MissingError(LookUpError):
    """There is no such object."""


class ForbiddenError(LookUpError):
    """The account may not read it; the message names the permission that it needs."""


class NotServedError(LookUpError):
    """The cluster serves no such kind of objects in a version that is read."""


class UnavailableError(LookUpError):
    """The cluster cannot be asked now; trying again in some seconds may help."""


class BusyError(LookUpError):
    """Others are looked up, and it was not one's turn in time; trying again will help."""


class FailedError(LookUpError):
    """The cluster answered something that cannot be used; trying again will not help."""


class TooManyError(LookUpError):
    """The cluster has more than one answer may hold; nobody who asked sent any of it."""
