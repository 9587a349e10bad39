"""How much is tried: what decides whether a change may land tries a part, `make audit` and `make soak` all of it."""

import os
from typing import Final

FULL_SIZE: Final = bool(os.environ.get("SFUMATO_FULL_SIZE"))
"""Set by `make audit` and `make soak`. Tests of a file that imports this are `sized`: `make audit` runs them all."""


COSTLY: Final = 100 if FULL_SIZE else 15
"""How many random examples are tried where each one asks an engine several times."""
