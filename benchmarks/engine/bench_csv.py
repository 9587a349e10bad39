"""How fast is a CSV file read, where it is regular and where it is not, beside pandas?

The same rows of visits are written in several ways. Each file is read by pandas (all columns as text, and as the types
that it guesses) and by us: six declared columns of plain text, in batches, as every engine gets them. Megabytes are
those of the text, and a second is one of CPU time, the least of some runs; the ratio is ours over pandas with text. The
last line says what one quotation mark in an otherwise regular file costs.

Usage: python benchmarks/engine/bench_csv.py [--rows 500000] [--runs 3]
"""

import argparse
import csv
import gzip
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from sfumato.engines.sources.csv_files import batches, header
from sfumato.query.model.csv_format import CsvFormat
from sfumato.query.model.schema import date, integer, real, text

COLUMNS = {
    "patient": text(), "ward": text(), "age": integer(0, 120), "cost": real(0, 9_999), "day": date(), "note": text(),
}  # fmt: skip
EUROPEAN = CsvFormat(delimiter=";", encoding="latin-1", decimal=",", thousands=".", dates="%d.%m.%Y", null=["NA"])


def visits(rows: int, *, european: bool) -> list[tuple[str, ...]]:
    """Rows as text, in one way to write them or in another."""
    generator = np.random.default_rng(19)
    wards, notes = ("Chirurgie", "Innere", "Pädiatrie"), ("", "NA", "wiederbestellt", "keine")
    days = pd.date_range("2026-01-01", "2026-12-31").strftime("%d.%m.%Y" if european else "%Y-%m-%d").to_list()
    cents = generator.integers(0, 999_999, rows)
    costs = [
        f"{cent / 100:,.2f}".translate(str.maketrans(",.", ".,")) if european else f"{cent / 100:.2f}" for cent in cents
    ]
    return [
        (f"p{patient}", wards[ward], str(age), cost, days[day], notes[note])
        for patient, ward, age, cost, day, note in zip(
            generator.integers(0, rows // 3 + 1, rows), generator.integers(0, 3, rows),
            generator.integers(0, 100, rows),
            costs, generator.integers(0, len(days), rows), generator.integers(0, 4, rows), strict=True,
        )
    ]  # fmt: skip


def write(path: Path, rows: list[tuple[str, ...]], form: CsvFormat, quoting: int) -> None:
    with path.open("w", newline="", encoding=form.encoding) as file:
        writer = csv.writer(file, delimiter=form.delimiter, lineterminator="\n", quoting=quoting)  # type: ignore[arg-type]
        writer.writerows([tuple(COLUMNS), *rows])


def least(read: Callable[[], object], runs: int) -> float:
    """CPU seconds."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        read()
        found.append(time.process_time() - start)
    return min(found)


def ours(path: Path, form: CsvFormat) -> int:
    reader = batches(path, names=header(path, form), has_header=True, columns=COLUMNS, csv_format=form)
    return sum(batch.num_rows for batch in reader)


def show(name: str, path: Path, form: CsvFormat, size: float, rows: int, runs: int) -> float:
    if ours(path, form) != rows:
        raise SystemExit(f"{name}: lost rows")
    words = {"sep": form.delimiter, "encoding": form.encoding}
    typed = {
        "decimal": form.decimal,
        "thousands": form.thousands,
        "parse_dates": ["day"],
        "date_format": (*form.dates, "%Y-%m-%d")[0],
    }
    own = least(lambda: ours(path, form), runs)
    plain = least(lambda: pd.read_csv(path, dtype=str, keep_default_na=False, **words), runs)
    guessed = least(lambda: pd.read_csv(path, **words, **typed), runs)
    cells = rows * len(COLUMNS)
    figures = "".join(f"{size / one / 1e6:12.0f}" for one in (own, plain, guessed))
    print(f"{name:34}{size / 1e6:8.1f}{figures}{own / cells * 1e6:10.3f}{plain / own:8.2f}", flush=True)
    return own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    heads = ("MB", "ours MB/s", "pandas text", "pandas types", "µs a cell", "ratio")
    print(
        f"{options.rows:,} rows\n{'':34}"
        + "".join(f"{head:>{width}}" for head, width in zip(heads, (8, 12, 12, 12, 10, 8), strict=True))
    )
    with tempfile.TemporaryDirectory() as folder:
        path, packed = Path(folder) / "visits.csv", Path(folder) / "visits.csv.gz"
        rows = visits(options.rows, european=False)
        write(path, rows, CsvFormat(), csv.QUOTE_MINIMAL)
        regular = show("regular", path, CsvFormat(), path.stat().st_size, len(rows), options.runs)
        packed.write_bytes(gzip.compress(path.read_bytes(), 6))
        show("regular, .gz", packed, CsvFormat(), path.stat().st_size, len(rows), options.runs)
        rows[len(rows) // 2] = (*rows[len(rows) // 2][:-1], 'a "note"')
        write(path, rows, CsvFormat(), csv.QUOTE_MINIMAL)
        one = show("one quoted cell", path, CsvFormat(), path.stat().st_size, len(rows), options.runs)
        write(path, rows, CsvFormat(), csv.QUOTE_ALL)
        show("all quoted", path, CsvFormat(), path.stat().st_size, len(rows), options.runs)
        rows = visits(options.rows, european=True)
        write(path, rows, EUROPEAN, csv.QUOTE_MINIMAL)
        show("; latin-1 1.234,5 31.01.2026", path, EUROPEAN, path.stat().st_size, len(rows), options.runs)
    print(f"one quoted cell: {(one - regular) * 1e3:.2f} ms more")


if __name__ == "__main__":
    main()
