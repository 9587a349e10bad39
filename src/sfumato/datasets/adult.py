"""The Adult census: 48,842 people of the 1994 U.S. census, in two files [BK96]."""

import os
from io import BytesIO
from typing import Final, Literal

import pyarrow as pa
from pyarrow import csv

from sfumato.datasets import files
from sfumato.datasets.census import people
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import one_of

_TYPES: Final = {
    "age": pa.int64(),
    "workclass": pa.string(),
    "fnlwgt": pa.int64(),
    "education": pa.string(),
    "education_num": pa.int64(),
    "marital_status": pa.string(),
    "occupation": pa.string(),
    "relationship": pa.string(),
    "race": pa.string(),
    "sex": pa.string(),
    "capital_gain": pa.int64(),
    "capital_loss": pa.int64(),
    "hours_per_week": pa.int64(),
    "native_country": pa.string(),
    "income": pa.string(),
}
ADULT_NAMES: Final = tuple(_TYPES)
"""The fifteen columns in the order of the files, which have no header."""

Part = Literal["train", "test", "all"]
_FILES: Final = {"train": ("adult.data",), "test": ("adult.test",), "all": ("adult.data", "adult.test")}


def load_adult(part: Part = "train", *, source: str | os.PathLike[str] | None = None) -> pa.Table:
    """The Adult census as typed columns, in the order of its files.

    Without `source` it is looked for in the folder SFUMATO_DATA, then in the cache (the folder sfumato in
    XDG_CACHE_HOME or ~/.cache), then on the site of the UCI repository, five seconds at most a try. Every file is
    checked by SHA-256. Texts are stripped of spaces, "?" (unknown) stays, the stop after the income in adult.test goes.

    Args:
        part: "train" is adult.data with 32,561 rows, "test" adult.test with 16,281, "all" both in this order.
        source: A folder that holds the files, or the one file itself; nothing else is then looked at.

    Raises:
        ParameterError: Another part; no file; a file with another content.

    References:
        [BK96]
    """
    one_of(part, "part", _FILES)
    return pa.concat_tables([_table(_content(name, source)) for name in _FILES[part]])


def adult_or_people() -> tuple[pa.Table, str]:
    """The 32,561 people of adult.data where it can be had, else as many made-up ones; and which of the two it is.

    Raises:
        ParameterError: A file adult.data is there, with another content.
    """
    content = files.find("adult.data")
    if content is None:
        return people(), "made-up people with the columns of the Adult census (adult.data was not found)"
    return _table(content), "the Adult census (UCI, adult.data)"


def _content(name: str, source: str | os.PathLike[str] | None) -> bytes:
    content = files.find(name) if source is None else files.read_given(name, source)
    if content is None:
        raise ParameterError(
            "SFUMATO_DATA",
            os.environ.get("SFUMATO_DATA"),
            f"{name} was neither there nor in the cache and could not be downloaded; fetch it from "
            f"https://archive.ics.uci.edu/dataset/2/adult and set SFUMATO_DATA to its folder",
        )
    return content


def _table(content: bytes) -> pa.Table:
    tidy = content.replace(b", ", b",").replace(b"K.\n", b"K\n")
    return csv.read_csv(
        BytesIO(tidy),
        read_options=csv.ReadOptions(column_names=list(_TYPES)),
        convert_options=csv.ConvertOptions(column_types=_TYPES),
    )
