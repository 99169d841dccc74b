"""A minimal scheduler that puts pods where they may stay longest: README.md beside this file."""
