"""What the pretended kubelet of a node answers when it is asked how the node is."""

from bailiff_demo.stats.annotations import check_told
from bailiff_demo.stats.configz import configuration_of
from bailiff_demo.stats.measuring import measures
from bailiff_demo.stats.summary import summary_of

__all__ = ["check_told", "configuration_of", "measures", "summary_of"]
