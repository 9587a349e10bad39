"""`python -m sfumato` is the command `sfumato`."""

from sfumato.cli.app import main

if __name__ == "__main__":
    main()
