"""As `serving`, but for the gateways alone, whose worker is started elsewhere."""

import sys
from pathlib import Path

from tests.attacks_on_servers.serving import say

from sfumato.server.serve import serve

if __name__ == "__main__":
    serve(Path(sys.argv[1]), started=say, only="gateways")
