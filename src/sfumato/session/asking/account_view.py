"""`AccountView`: all tables of a database of people, and one account that pays for every question about them."""

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
from sfumato.session.asking.partition import Partition
from sfumato.session.asking.pipeline import Desk
from sfumato.session.asking.view import View


class AccountView(View):
    """All tables of a database of people, asked on one account: that of the dataset, or one below it.

    **Guarantee**: all answers ever given on an account and on those below it, by any number of sessions, are together
    within its budget, for the privacy unit and the neighboring relation of the policy; with a window, within each
    window. An account below another pays with all above it: two analysts together never pass what is theirs in common.

    Args:
        desk: Who answers, and the account that pays.
        tables: The relation behind each name.
    """

    def __init__(self, desk: Desk, tables: Mapping[str, Relation]) -> None:
        super().__init__(desk, tables)
        self.policy = desk.policy

    @property
    def account_name(self) -> str:
        """The name of the account that pays, with those above it: ``hospital/cardiology/ann``."""
        return self._desk.account

    @property
    def budget(self) -> Budget:
        """All that may be spent: ever, or in each window."""
        return self._desk.ledger.budget(self._desk.account)

    @property
    def spent(self) -> Budget:
        """What was spent, computed from the ledger's entries; with a window, within it."""
        return self._desk.ledger.spent(self._desk.account)

    @property
    def remaining(self) -> Budget:
        """What is left of the account's own budget; one above it may have less."""
        return self._desk.ledger.remaining(self._desk.account)

    def open_account(self, name: str, *, budget: Budget, window: Window | None = None) -> "AccountView":
        """An account below this one, for a team, an analyst or a project; found again if it is open. For the owner.

        Args:
            name: What it is called here; its full name begins with that of this account.
            budget: What may be spent on it, in its own measure: ``PureDP``, ``ApproxDP``, ``ZCDP``, ``RenyiDP``. The
                budgets of several accounts may add up to more than that of the one above, which still is never passed.
            window: How often the budget comes back, if it does; never above what the accounts above still have.

        Raises:
            ParameterError: The name is empty or has a slash.
            LedgerError: It is open with another budget or window.

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
        """An account below this one that is open: ``"ann"``, or ``"cardiology/ann"`` two steps below.

        Raises:
            LedgerError: There is none.
        """
        account = f"{self._desk.account}/{name}"
        if self._desk.account not in self._desk.ledger.path(account):
            raise LedgerError(f"account {account!r}", f"is not below {self._desk.account!r}; ask about its own data")
        return AccountView(replace(self._desk, account=account), self._tables)

    def change_budget(self, budget: Budget, *, reason: str) -> None:
        """Give the account another budget in the same measure; for the owner. What was spent stays spent.

        Args:
            budget: The new one; below what is spent, nothing is left.
            reason: Why; it stays in the ledger.
        """
        self._desk.ledger.change_budget(self._desk.account, budget, reason=reason)

    def close_account(self, *, reason: str) -> None:
        """Answer nothing more on this account and those below, but what is stored; for the owner.

        Args:
            reason: Why; it stays in the ledger.
        """
        self._desk.ledger.close_account(self._desk.account, reason=reason)

    @contextmanager
    def partition(
        self, table: str, *, by: str, values: Iterable[Key] | None = None, max_parts_per_unit: int = 1
    ) -> Iterator[Partition]:
        """A table cut by the public values of a column; see `Partition`.

        Args:
            table: The table to cut.
            by: The column whose values name the parts.
            values: The public values; those of the policy if left out.
            max_parts_per_unit: In how many parts one unit may lie.

        Raises:
            ParameterError: No such table or column, or no public values.
        """
        facts = self._table(table)
        keys = facts.column(by).values if values is None else tuple(values)
        if keys is None:
            raise ParameterError("values", None, f"must list the public values of {by}, as the policy does not")
        yield Partition(self._desk, facts, by=by, values=keys, max_parts_per_unit=max_parts_per_unit)

    def __repr__(self) -> str:
        return f"<Account {self.account_name}: spent {self.spent} of {self.budget}, left {self.remaining}>"

    def _below(self, name: str) -> Desk:
        wanted = 'text without a slash, such as "ann"'
        if not of_kind(name, "name", str, wanted) or "/" in name:
            raise ParameterError("name", name, f"must be {wanted}")
        return replace(self._desk, account=f"{self._desk.account}/{name}")

    def _table(self, name: str) -> Table:
        if not is_one_of(name, self.policy.tables):
            raise ParameterError("table", name, f"must be one of: {', '.join(self.policy.tables)}")
        return self.policy.tables[name]
