"""`TableSource`: a table that only grows, of which each tick is read once, when it closes."""

from contextlib import closing
from datetime import datetime

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind, one_of, whole
from sfumato.session.session import Session
from sfumato.streams.counting.releases import CounterReleases
from sfumato.streams.sources.feed import Feed
from sfumato.streams.sources.reading import EventColumns, EventReader, require_account, suspending


class TableSource:
    """Counts the rows of a table by the ticks of a public clock; the clock alone says what is read, and when.

    The table may be in any engine of the session: a file or a frame in DuckDB, PostgreSQL, Spark. The owner's policy
    says whose a row is, and to what its values are clamped. Rows are only ever added to it.

    * `advance` reads the rows whose time lies in the ticks that close with it, and no others. What was read is in the
      position of the feed: it is durable with the releases or not at all, so nothing that is cut off counts twice.
    * A row that is added after its tick was read is late, and is never read.
    * The order in which rows were stored does not matter: they are taken by time, key and value.
    * With an `id`, rows of one owner that agree in time, key and id are one event.

    **Guarantee**: that of the counter, for the privacy unit of the policy. A failure that may be about a row suspends
    the account, as for every query, and nothing is released.

    Args:
        feed: Where the events go; its counter is charged to the session.
        session: The session with the table.
        table: The name of the table.
        time: The column of times: timestamps, or dates in the zone of the ticks.
        key: The column of the counter's keys, if it has some.
        value: The column that is summed; None counts rows.
        id: The column that tells events of an owner apart, if rows may be there twice; needs a feed with `unique=True`.
            A table of which each row is a unit has none: a copy would be a unit of its own.

    Raises:
        ParameterError: There is no such table or column, or it is of another kind.
        NotPrivateError: The counter is charged elsewhere, does not protect the table's units, or the table is public;
            or ids of a table of which each row is a unit.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> calls = pa.table({"at": ["2026-01-01T09:30", "2026-01-01T23:00", "2026-01-02T00:00"]})
        >>> session = sf.open(calls, name="calls", columns={"at": sf.timestamp()}, budget=sf.PureDP(100))
        >>> tree = sf.mechanisms.BinaryTree
        >>> counter = sf.streams.Counter(session=session, mechanism=tree, horizon=2, epsilon=100)
        >>> feed = sf.streams.Feed(counter, ticks=sf.streams.Ticks(start="2026-01-01", every="day"))
        >>> TableSource(feed, session, table="calls", time="at").advance("2026-01-03").values.tolist()
        [2, 3]
    """

    def __init__(
        self, feed: Feed, session: Session, *, table: str, time: str, key: str | None = None,
        value: str | None = None, id: str | None = None,  # noqa: A002 # an event's id
    ) -> None:  # fmt: skip
        self.feed = of_kind(feed, "feed", Feed, "a Feed")
        self._session = of_kind(session, "session", Session, "the Session with the table")
        declared = session.policy.tables[one_of(table, "table", session.policy.tables)]
        self._table = declared.name
        require_account(feed, session, table)
        self._reader = EventReader(declared, EventColumns(time=time, key=key, value=value, id=id), feed=feed)
        _ = self._last_read  # which refuses a feed of something else

    def advance(self, now: datetime | str | None = None) -> CounterReleases:
        """Read the rows of the ticks that have ended, close these, and give their releases; of none if none has ended.

        Args:
            now: Public time; None for what the clock of the feed says.

        Raises:
            ParameterError: As of `Feed.closable`.
            UnavailableError: A row could not be read; the account is suspended, until its owner acknowledges that.
            EngineError: The engine cannot be reached; ask again later.
            StateError: The state cannot be written, another process has it, or an earlier reading was interrupted.
        """
        feed = self.feed
        with feed.lock:
            steps = feed.closable(now)
            unread = range(max(steps.start, self._last_read + 1), steps.stop)
            if unread:
                first, beyond = feed.ticks.begin(unread.start), feed.ticks.begin(unread.stop)
                with suspending(feed.counter), closing(self._session.opened_again()) as engine:
                    events = self._reader.read(engine, first=first, beyond=beyond)
                events.give(feed, position={"table": self._table, "read": unread.stop - 1})
            return feed.close(steps)

    @property
    def _last_read(self) -> int:
        """The last tick of which the rows are in the counter, closed or not."""
        position = self.feed.position
        if position is None:
            return 0
        if not isinstance(position, dict) or position.get("table") != self._table:
            raise ParameterError("feed", "its position", f"must be one that was committed with table {self._table}")
        return whole(position["read"], "read")
