"""A question in a process of its own: `sfumato query … --json`, as anybody would call it."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pyarrow import parquet

from sfumato.cli.audit.made_up import Row, as_arrow
from sfumato.errors import ParameterError
from sfumato.query.model.schema import Column

_TIMEOUT: Final = 600.0


def ask_child(
    rows: Sequence[Row],
    *,
    program: Sequence[str],
    options: Sequence[str],
    file: Path,
    columns: Mapping[str, Column],
    must_answer: bool,
) -> Any:
    """What the command prints about rows that it finds in a file: records and notes, or how it failed.

    Args:
        rows: The made-up database.
        program: How the command is called.
        options: Its arguments.
        file: Where the rows are put, always the same, as an error may name it.
        columns: Their types.
        must_answer: Whether a failure is an error here, and no output.

    Raises:
        ParameterError: It took too long, printed no JSON, or failed where it must answer.
    """
    parquet.write_table(as_arrow(rows, columns), file)
    arguments = [*program, *options, "--json"]
    try:
        ended = subprocess.run(  # noqa: S603 # this program itself, with the options it was given; there is no shell
            arguments, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=_TIMEOUT
        )
    except subprocess.TimeoutExpired:
        raise ParameterError("--child", arguments[-1], f"gave no answer within {_TIMEOUT:g} seconds") from None
    said = ended.stderr.decode("utf-8", "replace")
    if ended.returncode:
        if must_answer:
            raise ParameterError("--child", ended.returncode, f"failed: {' '.join(said.split())[-600:]}")
        return f"exit code {ended.returncode}: {said}"
    try:
        answer = json.loads(ended.stdout)
        return [*answer["records"], *answer["notes"]]
    except (ValueError, KeyError, TypeError):
        raise ParameterError("--child", ended.stdout[:80], "must print the answer as JSON") from None
