"""`AccountView`: a database of people, queried under one account and its budget."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from sfumato.errors import LedgerError, ParameterError
from sfumato.ledger.core.entry import Opened
from sfumato.ledger.core.windows import Window
from sfumato.numeric.arguments import is_one_of, of_kind
from sfumato.privacy.budgets import Budget
from sfumato.query.model.relations import Relation
from sfumato.query.model.schema import Key, Table
from sfumato.session.asking.execution import Answering
from sfumato.session.asking.planning import Planning
from sfumato.session.asking.view import Partition, View


class AccountView(View):
    """All tables of a database of people, queried under one account: that of the dataset, or a descendant.

    **Guarantee**: all answers ever released under an account and its descendants, by any number of sessions, together
    cost at most its budget, for the privacy unit and the neighboring relation of the policy; with a window, at most its
    budget in each window. A charge to an account is also charged to its ancestors, so two analysts together never
    exceed the budget of their common ancestor.

    Args:
        desk: The session that answers, with the charged account.
        tables: The relation behind each name.
    """

    def __init__(self, desk: Answering, tables: Mapping[str, Relation]) -> None:
        super().__init__(desk, tables)
        self.policy = desk.policy

    @property
    def planning(self) -> Planning:
        """The policy, the ledger and the charged account: for what else is charged to it, such as a counter."""
        return self._desk

    @property
    def account_name(self) -> str:
        """The full name of the charged account, with its parents: ``hospital/cardiology/ann``."""
        return self._desk.account

    @property
    def budget(self) -> Budget:
        """The most that may be spent: in total, or in each window."""
        return self._desk.ledger.budget(self._desk.account)

    @property
    def spent(self) -> Budget:
        """The spending, computed from the ledger's entries; with a window, within the window."""
        return self._desk.ledger.spent(self._desk.account)

    @property
    def remaining(self) -> Budget:
        """The remaining budget of the account; a parent may have less."""
        return self._desk.ledger.remaining(self._desk.account)

    def open_account(self, name: str, *, budget: Budget, window: Window | None = None) -> "AccountView":
        """Open a child account, for a team, an analyst or a project, or return it if it is open. For the owner.

        Args:
            name: Its name; the full name begins with that of this account.
            budget: The most it may spend, in its own measure: ``PureDP``, ``ApproxDP``, ``ZCDP``, ``RenyiDP``. The
                budgets of children may add up to more than the parent's budget, which is never exceeded.
            window: The period of the budget; None: it never refills. Parents still limit every charge.

        Raises:
            ParameterError: The name is empty or has a slash.
            LedgerError: The account is open with another budget or window.

        Example:
            >>> import sfumato as sf
            >>> votes = sf.open(sf.datasets.votes(), name="votes", columns={"sport": sf.text()}, budget=sf.PureDP(1))
            >>> ann = votes.open_account("ann", budget=sf.PureDP("0.5"))
            >>> _ = ann.sql("SELECT COUNT(*) AS n FROM votes", epsilon="0.2")
            >>> str(ann.remaining), str(votes.remaining)
            ('ε 0.3', 'ε 0.8')
        """
        below = self._below(name)
        self._desk.ledger.open_account(
            Opened(
                account=below.account, budget=budget, neighboring_relation=self.policy.neighboring_relation,
                privacy_unit=self.policy.unit_name, parents=(self._desk.account,), window=window,
            )
        )  # fmt: skip
        return AccountView(below, self._tables)

    def account(self, name: str) -> "AccountView":
        """An open child account: ``"ann"``, or ``"cardiology/ann"`` for a child of a child.

        Raises:
            LedgerError: There is no such account.
        """
        account = f"{self._desk.account}/{name}"
        if self._desk.account not in self._desk.ledger.path(account):
            raise LedgerError(
                f"account {account!r}", f"is not a descendant of {self._desk.account!r}; query its own data"
            )
        return AccountView(replace(self._desk, account=account), self._tables)

    def change_budget(self, budget: Budget, *, reason: str) -> None:
        """Change the budget of the account, in the same measure; for the owner. The spending stays.

        Args:
            budget: The new budget; if it is below the spending, nothing remains.
            reason: The reason; the ledger records it.
        """
        self._desk.ledger.change_budget(self._desk.account, budget, reason=reason)

    def close_account(self, *, reason: str) -> None:
        """Refuse all further charges to this account and its children; stored answers stay available. For the owner.

        Args:
            reason: The reason; the ledger records it.
        """
        self._desk.ledger.close_account(self._desk.account, reason=reason)

    @contextmanager
    def partition(
        self, table: str, *, by: str, values: Iterable[Key] | None = None, max_parts_per_unit: int = 1
    ) -> Iterator[Partition]:
        """Partition a table by the public values of a column; see `Partition`.

        Args:
            table: The table to partition.
            by: The column whose values name the parts.
            values: The public values; default: those of the policy.
            max_parts_per_unit: The most parts in which one unit may have rows.

        Raises:
            ParameterError: An unknown table or column, or no public values.
        """
        facts = self._table(table)
        keys = facts.column(by).values if values is None else tuple(values)
        if keys is None:
            raise ParameterError("values", None, f"must list the public values of {by}, as the policy does not")
        yield Partition(self._desk, facts, by=by, values=keys, max_parts_per_unit=max_parts_per_unit)

    def __repr__(self) -> str:
        return f"<Account {self.account_name}: spent {self.spent} of {self.budget}, remaining {self.remaining}>"

    def _below(self, name: str) -> Answering:
        wanted = 'text without a slash, such as "ann"'
        if not of_kind(name, "name", str, wanted) or "/" in name:
            raise ParameterError("name", name, f"must be {wanted}")
        return replace(self._desk, account=f"{self._desk.account}/{name}")

    def _table(self, name: str) -> Table:
        if not is_one_of(name, self.policy.tables):
            raise ParameterError("table", name, f"must be one of: {', '.join(self.policy.tables)}")
        return self.policy.tables[name]
