"""A public clock of days."""

from datetime import UTC, datetime, timedelta


class Days:
    """A day for each step, from the first of a year."""

    @property
    def document(self):
        return {"start": "2026-01-01", "every": "1 day"}

    def moment(self, tick):
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=tick - 1)
