"""Generated from protos/bailiff/v1 by `make protos`; never edited by hand."""
