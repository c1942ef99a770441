"""`python -m novum`: the command line, where the console script is not on the path."""

from novum.apps.cli import main

if __name__ == "__main__":
    main()
