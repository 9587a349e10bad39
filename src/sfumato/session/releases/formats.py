"""Releases as CSV, Arrow and Parquet; as a program, for processes that do not load pyarrow.

``python -m sfumato.session.releases.formats parquet`` reads a release document (`documents`) from its input and writes
it to its output in another format. It ends with 2 and a constant message if the input is no release or too large.
"""

import csv
import json
import sys
from datetime import date
from io import BytesIO, StringIO
from typing import Any, Final, Literal, TypeAlias, get_args

from sfumato.query.model.relations import with_ends
from sfumato.session.releases.documents import MISTAKES, decode_release
from sfumato.session.releases.release import Release

Format: TypeAlias = Literal["arrow", "parquet"]
"""An Arrow IPC stream, or a Parquet file."""

MOST_BYTES: Final = 64 * 2**20
"""The largest document that the program reads."""

_FORMULAS: Final = tuple("=+-@\t\r\n＝＋－＠")
"""What spreadsheets take for the beginning of a formula, or skip before one."""

_USAGE: Final = f"usage: python -m sfumato.session.releases.formats {'|'.join(get_args(Format))} < document.json\n"
_TOO_LARGE: Final = f"release: larger than {MOST_BYTES:,} bytes; ask for fewer groups, or take the JSON\n"
_NO_RELEASE: Final = "release: the input is no release of this version; pass a document of encode_release as JSON\n"


def csv_text(release: Release) -> str:
    r"""The records of a release as CSV, with a header; the columns are those of `Release.to_arrow`.

    Text is quoted, numbers are not. Days and times are in ISO 8601, truths are `true` and `false`; NULL and empty text
    are both `""`. Lines end in ``\r\n``.

    Edge cases: a spreadsheet takes text that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, also behind a tab
    or a line break, and could run it. Such text, also as the name of a column, has an apostrophe before it. Numbers
    stay as they are. JSON, Arrow and Parquet have all text as it was released.

    Example:
        >>> import sfumato as sf
        >>> votes = sf.open(
        ...     sf.datasets.votes(), name="votes", columns={"sport": sf.text(values=["Tennis", "=1+1"])},
        ...     budget=sf.PureDP(9_000),
        ... )
        >>> release = votes.sql("SELECT sport, COUNT(*) AS n FROM votes GROUP BY sport", epsilon=9_000)
        >>> print(csv_text(release).replace("\r\n", "\n"), end="")
        "sport","n","n_low","n_high"
        "Tennis",0,0,0
        "'=1+1",0,0,0
    """
    out = StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)  # also where another separator would split a text
    ends = (name for statistic in release.statistics for name in with_ends(statistic))
    writer.writerow(map(_csv_cell, (*release.keys, *ends)))
    for group, row in zip(release.groups, release.estimates, strict=True):
        figures = (figure for one in row for figure in (one.value, one.low, one.high))
        writer.writerow(map(_csv_cell, (*group, *figures)))
    return out.getvalue()


def converted(release: Release, to: Format) -> bytes:
    """The table of `Release.to_arrow` as an Arrow IPC stream or a Parquet file; it loads pyarrow."""
    import pyarrow as pa  # only this process needs it
    from pyarrow import parquet  # the same

    table, out = release.to_arrow(), BytesIO()
    if to == "parquet":
        parquet.write_table(table, out)
    else:
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
    return out.getvalue()


def main(arguments: list[str]) -> int:
    """Convert the release on the input; gives the exit code."""
    match arguments:
        case [("arrow" | "parquet") as wanted]:
            pass
        case _:
            return _refused(_USAGE)
    document = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(document) > MOST_BYTES:
        return _refused(_TOO_LARGE)
    try:
        made = converted(decode_release(json.loads(document)), wanted)
    except MISTAKES:  # its message could quote what was released, and the caller may log it
        return _refused(_NO_RELEASE)
    sys.stdout.buffer.write(made)
    return 0


def _refused(message: str) -> int:
    sys.stderr.write(message)
    return 2


def _csv_cell(value: Any) -> Any:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value}" if value.startswith(_FORMULAS) else value
        case date():
            return value.isoformat()
        case _:
            return value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
