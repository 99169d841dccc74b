"""What the documents in `docs/` are made with: the site, and the pages that the code writes itself.

`make docs` builds the site, `make reference` writes the generated pages anew. Nothing here is part
of the product.
"""
