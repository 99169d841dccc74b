"""What Kubernetes fills in, forbids and keeps for each kind of object."""

from bailiff.embedded.rules.strategy import Strategy
from bailiff.embedded.rules.table import strategy_of

__all__ = ["Strategy", "strategy_of"]
