"""The serving certificate that Bailiff makes for itself, and who is told whom to believe.

A Secret holds the certificate and the authorities that vouch for it; webhook configurations name
the same authorities (`caBundle`). Each certificate has an authority of its own, whose key is thrown
away, so no key that could sign more lies anywhere.
"""

from bailiff.certificates.issuing import Issued, issue
from bailiff.certificates.plan import Plan, Step, Terms, plan
from bailiff.certificates.renewing import BUNDLED, MOST_SETTLED, Place, Renewal

__all__ = [
    "BUNDLED",
    "MOST_SETTLED",
    "Issued",
    "Place",
    "Plan",
    "Renewal",
    "Step",
    "Terms",
    "issue",
    "plan",
]
