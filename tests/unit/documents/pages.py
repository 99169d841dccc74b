"""Which documents there are: those of the site, wherever they lie."""

from handbook.site import ROOT, documents

DOCUMENTS = sorted(documents())

__all__ = ["DOCUMENTS", "ROOT"]
