"""`SparkSink`: what `foreachBatch` of Spark Structured Streaming calls at least once a batch; it counts once."""

from collections.abc import Callable
from contextlib import closing
from threading import RLock
from typing import Any, Final, NoReturn

from sfumato.engines.registry import open_engine
from sfumato.engines.sources.sources import open_in_place
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, of_kind, one_of, whole
from sfumato.privacy.codec import Json
from sfumato.query.policy.policy import Risk
from sfumato.session.session import Session
from sfumato.streams.counting.releases import CounterReleases
from sfumato.streams.sources.feed import Feed
from sfumato.streams.sources.reading import EventColumns, EventReader, require_account, suspending

_QUERY: Final = "sql.streaming.queryId"
"""In which of its local properties Spark has the id of a query, which its checkpoint keeps over restarts."""

_ACCEPTED: Final = frozenset({Risk.FAILING_ROWS})
"""No plan of a batch proves that no row makes it fail. Whoever starts the query knows what is in it."""


class SparkSink:
    """Counts the micro-batches of a streaming query: each once, however often Spark hands it over.

    Spark calls a function of `foreachBatch` at least once for each batch: after a failure again, with the same number
    and, of a source that can be read again, the same rows. The number of the batch, the counter's state and its
    releases become durable in one commit. A batch that was cut off before it has left nothing; after it, the batch is
    known, and is skipped. Batches are only how events travel: ticks close by the public clock, whatever a batch holds.

    Spark calls nothing while no events come. `ticking` closes ticks all the same, at their time.

    **Guarantee**: that of the counter, for the privacy unit of the policy. A failure that may be about a row suspends
    the account, as for every query.

    Args:
        feed: Where the events go; its counter is charged to the session.
        session: The session whose policy declares the table. Its source may be empty: only batches are read here.
        table: The name of the table.
        time: The column of times: timestamps, or dates in the zone of the ticks.
        key: The column of the counter's keys, if it has some.
        value: The column that is summed; None counts rows.
        id: The column that tells events of an owner apart, if rows may come twice; needs a feed with `unique=True`. A
            table of which each row is a unit has none.
        on_release: What is called with the releases of ticks that closed with a batch; they are durable by then.

    Raises:
        ParameterError: There is no such table or column, or it is of another kind.
        NotPrivateError: The counter is charged elsewhere, does not protect the table's units, or the table is public.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> empty = pa.table({"at": pa.array([], pa.timestamp("us"))})
        >>> session = sf.open(empty, name="visits", columns={"at": sf.timestamp()}, budget=sf.PureDP(1))
        >>> counter = sf.streams.Counter(
        ...     session=session, mechanism=sf.mechanisms.BinaryTree, horizon=365, epsilon=1
        ... )
        >>> feed = sf.streams.Feed(counter, ticks=sf.streams.Ticks(start="2026-01-01", every="day"))
        >>> sink = SparkSink(feed, session, table="visits", time="at")  # for frame.writeStream.foreachBatch(sink)

    References: [ATDB18]
    """

    def __init__(
        self, feed: Feed, session: Session, *, table: str, time: str, key: str | None = None,
        value: str | None = None, id: str | None = None,  # noqa: A002 # an event's id
        on_release: Callable[[CounterReleases], object] | None = None,
    ) -> None:  # fmt: skip
        self.feed = of_kind(feed, "feed", Feed, "a Feed")
        policy = of_kind(session, "session", Session, "the Session whose policy declares the table").policy
        self._table = policy.tables[one_of(table, "table", policy.tables)]
        require_account(feed, session, table)
        self._reader = EventReader(self._table, EventColumns(time=time, key=key, value=value, id=id), feed=feed)
        self._shown = None if on_release is None else called(on_release, "on_release", "a function of releases")
        self._batches = RLock()

    def __call__(self, frame: Any, batch: int) -> None:
        """Count one micro-batch, unless it was counted before; then close the ticks that have ended.

        Args:
            frame: The rows of the batch.
            batch: Its number.

        Raises:
            ParameterError: The feed has counted batches of another query, or the source is not as declared.
            UnavailableError: A row could not be read; the account is suspended, until its owner acknowledges that.
            StateError: The state cannot be written, or another process has it; Spark will hand the batch over again.
        """
        position: dict[str, Json] = {"query": _query_of(frame), "batch": whole(batch, "batch")}
        with self._batches:
            if self._is_counted(position):
                self._keep()
                return
            name, spark = self._table.name, frame.sparkSession
            source = open_in_place(frame, self._table, accepted_risks=_ACCEPTED)
            with (
                suspending(self.feed.counter),
                closing(open_engine("spark", {name: source}, options={"session": spark})) as engine,
            ):
                events = self._reader.read(engine)
            with self.feed.lock:
                events.give(self.feed, position=position)
                steps = self.feed.closable()
                if steps:
                    released = self.feed.close(steps)
                else:
                    self.feed.commit()
        if steps and self._shown is not None:
            self._shown(released)

    def _keep(self) -> None:
        """Commit a batch that was taken, if what came then failed."""
        kept = self.feed.counter.position
        if not isinstance(kept, dict) or kept["position"] != self.feed.position:
            self.feed.commit()

    def __reduce__(self) -> NoReturn:
        requirement = "must run where the counter is; open the stream in a classic session, not over Spark Connect"
        raise ParameterError("foreachBatch", "SparkSink", requirement)

    def _is_counted(self, position: dict[str, Json]) -> bool:
        done = self.feed.position
        if done is None:
            return False
        if not isinstance(done, dict) or done.get("query") != position["query"]:
            requirement = "differs from that whose batches are counted; start it from the same checkpoint"
            raise ParameterError("query", position["query"], requirement)
        return whole(position["batch"], "batch") <= whole(done["batch"], "batch")


def _query_of(frame: Any) -> str:
    """The id of the streaming query that hands a batch over; "" of a frame that no query hands over."""
    found = frame.sparkSession.sparkContext.getLocalProperty(_QUERY)
    return "" if found is None else str(found)
