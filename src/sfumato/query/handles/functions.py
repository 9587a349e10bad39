"""The functions of handles, by the kind of values they are for: numbers, text, dates and times."""

from typing import Self

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of
from sfumato.numeric.rationals import Number, exact
from sfumato.query.analysis.signatures import MAX_DIGITS, TRUNCATIONS
from sfumato.query.handles.conditions import clamped
from sfumato.query.handles.operators import Handle
from sfumato.query.model.expressions import Literal
from sfumato.query.model.functions import Function


class NumberFunctions(Handle):
    """Functions of numbers."""

    __slots__ = ()

    def clip(self, lower: Number, upper: Number) -> Self:
        """Clamp a number to bounds, so that it can be summed; NULL stays NULL.

        Raises:
            ParameterError: The bounds are not numbers, or in the wrong order.
        """
        low, high = exact(lower, "lower"), exact(upper, "upper")
        if low > high:
            raise ParameterError("clip", (lower, upper), "must have the lower bound at or below the upper bound")
        return self.made(lambda value: clamped(value, Literal(low), Literal(high), self.facts), self)

    def sign(self) -> Self:
        """The sign of the number: −1, 0 or 1."""
        return self.call(Function.SIGN, self)

    def floor(self) -> Self:
        """The number rounded down to a whole number."""
        return self.call(Function.FLOOR, self)

    def ceil(self) -> Self:
        """The number rounded up to a whole number."""
        return self.call(Function.CEIL, self)

    def trunc(self) -> Self:
        """The number without its fraction, rounded toward zero."""
        return self.call(Function.TRUNC, self)

    def round(self, digits: int = 0) -> Self:
        """The number rounded to 0 … 15 decimal digits, halves up."""
        return self.call(Function.ROUND, self, _whole(digits, "digits", least=0, most=MAX_DIGITS))

    def sqrt(self) -> Self:
        """The square root; NULL below 0."""
        return self.call(Function.SQRT, self)

    def log(self) -> Self:
        """The natural logarithm; NULL at and below 0."""
        return self.call(Function.LN, self)

    def log10(self) -> Self:
        """The decimal logarithm; NULL at and below 0."""
        return self.call(Function.LOG10, self)

    def exp(self) -> Self:
        """The exponential; NULL beyond the doubles."""
        return self.call(Function.EXP, self)


class TextFunctions(Handle):
    """Functions of text, in characters."""

    __slots__ = ()

    def lower(self) -> Self:
        """The text in lower case."""
        return self.call(Function.LOWER, self)

    def upper(self) -> Self:
        """The text in upper case."""
        return self.call(Function.UPPER, self)

    def length(self) -> Self:
        """The number of characters."""
        return self.call(Function.LENGTH, self)

    def substring(self, start: int, length: int) -> Self:
        """`length` characters from the one at `start`, which is 1 for the first."""
        return self.call(Function.SUBSTRING, self, _whole(start, "start", least=1), _whole(length, "length", least=0))

    def suffix(self, start: object) -> Self:
        """What begins at a place, 1 for the first character, which may be computed; all of it if that is below 1."""
        return self.call(Function.SUFFIX, self, start)

    def trim(self) -> Self:
        """The text without spaces at both ends."""
        return self.call(Function.TRIM, self)

    def trim_left(self) -> Self:
        """The text without spaces at the start."""
        return self.call(Function.LTRIM, self)

    def trim_right(self) -> Self:
        """The text without spaces at the end."""
        return self.call(Function.RTRIM, self)

    def position(self, word: str) -> Self:
        """Where a word first begins, 1 for the first character; 0 if it is nowhere."""
        return self.call(Function.POSITION, self, word)

    def replace(self, old: str, new: str) -> Self:
        """With one word in place of another, from the left."""
        return self.call(Function.REPLACE, self, old, new)

    def like(self, pattern: str) -> Self:
        r"""Whether the text matches a pattern: % is any text, _ any one character, \ escapes."""
        return self.call(Function.LIKE, self, pattern)


class TimeFunctions(Handle):
    """Functions of dates and timestamps."""

    __slots__ = ()

    @property
    def year(self) -> Self:
        """The year."""
        return self.call(Function.YEAR, self)

    @property
    def quarter(self) -> Self:
        """The quarter, 1 to 4."""
        return self.call(Function.QUARTER, self)

    @property
    def month(self) -> Self:
        """The month, 1 to 12."""
        return self.call(Function.MONTH, self)

    @property
    def week(self) -> Self:
        """The week of ISO 8601, 1 to 53."""
        return self.call(Function.WEEK, self)

    @property
    def day(self) -> Self:
        """The day of the month, 1 to 31."""
        return self.call(Function.DAY, self)

    @property
    def day_of_week(self) -> Self:
        """The day of the week: 0 on Sunday to 6 on Saturday."""
        return self.call(Function.DAY_OF_WEEK, self)

    @property
    def iso_day_of_week(self) -> Self:
        """The day of the week by ISO 8601: 1 on Monday to 7 on Sunday."""
        return self.call(Function.ISO_DAY_OF_WEEK, self)

    @property
    def day_of_year(self) -> Self:
        """The day of the year, 1 to 366."""
        return self.call(Function.DAY_OF_YEAR, self)

    @property
    def hour(self) -> Self:
        """The hour of a timestamp, 0 to 23."""
        return self.call(Function.HOUR, self)

    @property
    def minute(self) -> Self:
        """The minute of a timestamp, 0 to 59."""
        return self.call(Function.MINUTE, self)

    @property
    def second(self) -> Self:
        """The whole second of a timestamp, 0 to 59."""
        return self.call(Function.SECOND, self)

    def truncate(self, unit: str) -> Self:
        """The start of its "year", "quarter", "month", "week", "day", "hour" or "minute"."""
        if not is_one_of(unit, TRUNCATIONS):
            raise ParameterError("unit", unit, f"must be one of: {', '.join(TRUNCATIONS)}")
        return self.call(Function.TRUNCATE, self, unit)

    def add_days(self, days: object) -> Self:
        """The date or time so many days later; earlier, if below 0."""
        return self.call(Function.ADD_DAYS, self, days)

    def add_months(self, months: int) -> Self:
        """The same day so many months later, or the last day of that month."""
        return self.call(Function.ADD_MONTHS, self, _whole(months, "months"))

    def add_seconds(self, seconds: object) -> Self:
        """The timestamp so many seconds later; earlier, if below 0."""
        return self.call(Function.ADD_SECONDS, self, seconds)


def _whole(value: object, name: str, *, least: int | None = None, most: int | None = None) -> int:
    """A whole number that is written out."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(name, value, "must be a whole number")
    if (least is not None and value < least) or (most is not None and value > most):
        raise ParameterError(name, value, f"must be at least {least}" + ("" if most is None else f", at most {most}"))
    return value
