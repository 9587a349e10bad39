"""How the command says no: one line on stderr, exit code 2, no traceback."""

from typing import Any, Final

import typer
from typer.core import TyperGroup

from sfumato.errors import SfumatoError

REFUSED: Final = 2


class RefusingGroup(TyperGroup):
    """Commands whose errors of this package are shown as one line; any other error is a defect and keeps its trace."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except SfumatoError as error:
            typer.echo(f"sfumato: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(REFUSED) from None
