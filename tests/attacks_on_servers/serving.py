"""`python -m tests.attacks_on_servers.serving CURATOR.TOML`: serves as `sfumato serve` does, and says where."""

import sys
from pathlib import Path

from sfumato.server.serve import serve


def say(supervisor):
    """Tell whoever started this process."""
    sys.stdout.write(f"{supervisor.url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), started=say)
