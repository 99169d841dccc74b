"""`python -m bailiff`: the same as the `bailiff` command."""

from bailiff.cli import main

if __name__ == "__main__":
    main()
