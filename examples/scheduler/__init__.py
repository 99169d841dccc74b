"""A minimal scheduler that puts pods where Bailiff says first: README.md beside this file."""
