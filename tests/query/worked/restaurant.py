"""A week of a restaurant, to which people come back: from the folder SFUMATO_DATA if it is there, else made up."""

import os
import random
from pathlib import Path

import pyarrow as pa

FILE = "restaurant_week.csv"


def week():
    """The path of the file, or a table with its columns."""
    path = Path(os.environ.get("SFUMATO_DATA", ".")) / FILE
    return path if path.is_file() else _invented()


def _invented():
    chance = random.Random(7)  # noqa: S311 # rows of a test
    visits = [
        {
            "VisitorId": chance.randint(1, 250),
            "Time entered": f"{chance.randint(9, 11)}:{chance.randint(10, 59)}:00 AM",
            "Time spent (minutes)": chance.randint(10, 120),
            "Money spent (euros)": chance.randint(10, 120),
            "Day": chance.randint(1, 7),
        }
        for _ in range(600)
    ]
    return pa.Table.from_pylist(visits)
