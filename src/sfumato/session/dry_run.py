"""Dry runs: queries are planned, run and answered with noise as always, on made-up rows and at no cost.

**Guarantee**: no source is opened, and what is charged is charged to a ledger in memory that ends with the dry run. But
for the noise, an answer depends on the policy and the query alone.
"""

from dataclasses import replace
from typing import Final

from sfumato.engines.base import ExactGroups
from sfumato.engines.reference.groups import exact_groups
from sfumato.engines.reference.relations import relation_rows
from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.guarantees import NO_GUARANTEE
from sfumato.privacy.secret import Secret
from sfumato.query.model.statement import Statement
from sfumato.query.policy.policy import Policy
from sfumato.session.asking.execution import Desk
from sfumato.session.asking.planning import Planning
from sfumato.session.opening.made_up import MadeUpTables
from sfumato.session.releases.release import Release

MADE_UP: Final = "made-up rows"
"""The data version that receipts of dry runs state."""

NOTE: Final = f"{MADE_UP}: this is a dry run; no data was read and nothing was spent"
"""What is said of an answer from made-up rows."""


MOST_ROWS: Final = 20_000
"""How many rows a join of made-up rows may make, so that no dry run takes much time or memory."""


MOST_CELLS: Final = 400_000
"""How many cells all statements of a dry run together may compute: a row has one for each measure, and one more."""


class MadeUpEngine:
    """Computes statements over made-up rows in plain Python.

    Args:
        policy: What the rows are made up from.
    """

    name = MADE_UP
    sampling = "md5"

    def __init__(self, policy: Policy) -> None:
        self._tables = MadeUpTables(policy)
        self._cells = 0

    def run(self, statement: Statement, *, salt: str) -> Secret[ExactGroups]:
        """See `Engine.run`.

        Raises:
            ParameterError: A join makes too many rows, or all is too much; that depends on the policy and the query
                alone.
        """
        try:
            rows = relation_rows(statement.rows, self._tables.rows, salt=salt, most=MOST_ROWS)
        except OverflowError:
            requirement = "is too large for a dry run; join on columns that match fewer rows, or ask for its error"
            raise ParameterError("question", f"a join of more than {MOST_ROWS:,} made-up rows", requirement) from None
        self._cells += len(rows) * (1 + len(statement.measures))
        if self._cells > MOST_CELLS:
            requirement = "is too much for one dry run; try fewer queries or columns at once"
            raise ParameterError("question", f"more than {MOST_CELLS:,} cells of made-up rows", requirement)
        return Secret(exact_groups(statement, rows, salt=salt))

    def sql(self, _: Statement) -> str:
        """Nothing: it runs no SQL."""
        return ""

    def close(self) -> None:
        """Nothing is held open."""


def dry_run_desk(planning: Planning) -> Desk:
    """A desk that answers as a session would, from made-up rows; take a new one for each dry run.

    Its answers go through `as_made_up` before they are shown. Their receipts have `MADE_UP` as the version of the data,
    and state as their guarantee what the query would cost.

    Args:
        planning: Whose policy is followed; its ledger is not used.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.session.account import AccountView
        >>> votes = sf.open(sf.datasets.votes(), name="votes", columns={"sport": sf.text()}, budget=sf.PureDP(1))
        >>> desk = dry_run_desk(Planning(policy=votes.policy, ledger=Ledger(MemoryStore()), account="votes"))
        >>> view = AccountView(desk, {"votes": Source(votes.policy.tables["votes"])})
        >>> as_made_up(view.sql("SELECT COUNT(*) AS n FROM votes", epsilon=5)).notes
        ('made-up rows: this is a dry run; no data was read and nothing was spent',)
    """
    policy = replace(planning.policy, data_version=MADE_UP)
    opened = Opened(
        account=policy.dataset, budget=NO_GUARANTEE, neighboring_relation=policy.neighboring_relation,
        privacy_unit=policy.unit_name,
    )  # fmt: skip
    ledger = Ledger(MemoryStore())
    ledger.open_account(opened)
    engine = MadeUpEngine(policy)
    return Desk(policy=policy, engine=engine, ledger=ledger, account=policy.dataset, places=planning.places)


def as_made_up(release: Release) -> Release:
    """An answer of a dry run, which says that it is one."""
    return replace(release, notes=(NOTE, *release.notes))
