"""A small curator in a folder, and the half of a gateway that plans, charges and seals."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tests.meta.repository import ROOT

from sfumato.ledger.core.entry import Opened
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.guarantees import guarantee
from sfumato.server.config import Curator, load_curator
from sfumato.server.gateway.desks import Datasets, Errand
from sfumato.server.work.channel import sealed, written
from sfumato.session.asking.planning import charge, prepare
from sfumato.session.wire.tickets import encode_ticket

CANARY = "canary-2718281828"
PEOPLE = pa.table({"age": [30, 40, 50, None], "sex": ["f", "m", "f", "m"], "name": [CANARY, "x", "y", CANARY]})
COUNT = "SELECT COUNT(*) AS n FROM people"
PATIENCE = 60
POLICY = """
dataset = "{name}"
version = "1"
shares_answers = {shares}
[unit]
name = "person"
neighboring_relation = "add_or_remove_one"
[tables.people]
source = "{name}.parquet"
unit = "row"
[tables.people.columns.age]
type = "integer"
bounds = [0, 100]
[tables.people.columns.sex]
values = ["f", "m"]
[tables.people.columns.name]
type = "text"
max_length = 40
"""
WORK = {"quantum": 0, "seconds": 20}


def curator_file(folder, *names, rows=PEOPLE, engine="reference", shares=False, top="", **work):
    """The file of a curator of some datasets, which all have these rows."""
    for name in names or ("people",):
        pq.write_table(rows, folder / f"{name}.parquet")
        (folder / f"{name}.toml").write_text(POLICY.format(name=name, shares=str(shares).lower()), "utf-8")
    datasets = [
        f'[datasets.{name}]\npolicy = "{name}.toml"\nbudget = {{ epsilon = 1000 }}\nengine = "{engine}"\n'
        "declared_rows = 1000\n"
        for name in names or ("people",)
    ]
    limits = "".join(f"{name} = {value}\n" for name, value in (WORK | work).items())
    file = folder / "curator.toml"
    file.write_text(f'address = "127.0.0.1:0"\n{top}\n[work]\n{limits}\n' + "\n".join(datasets), "utf-8")
    load_curator(file).make_state()
    return file


@dataclass(frozen=True, slots=True)
class Asking:
    """A gateway's half: it has the ledger and what the worker declared."""

    curator: Curator
    ledger: Ledger
    datasets: Datasets

    def view(self, account="people", *, patience=PATIENCE):
        """A dataset as an account asks it, through the socket."""
        name = account.partition("/")[0]
        errand = Errand(self.datasets.line(name, patience=patience))
        return self.datasets.view(self.datasets.served(name), account, errand)

    def prepared(self, sql=COUNT, *, account="people", epsilon="0.5"):
        """A query as it is planned."""
        view = self.view(account)
        question = view.query(sql)
        planned = prepare(view._desk, question.relation.child, text=question.text, total=guarantee(epsilon))
        return view._desk, planned

    def ticket(self, sql=COUNT, *, account="people", epsilon="0.5"):
        """A query that is charged."""
        return charge(*self.prepared(sql, account=account, epsilon=epsilon))

    def message(self, ticket, *, account=None, key=None):
        """A ticket as a gateway sends it."""
        account = ticket.reservation.account if account is None else account
        return written(sealed(key or self.ledger.key, "run", account, encode_ticket(ticket)))

    def open_child(self, account):
        """An account below that of a dataset."""
        parent = account.rpartition("/")[0]
        above = self.ledger.opened(parent)
        self.ledger.open_account(
            Opened(
                account=account, budget=above.budget, parents=(parent,), privacy_unit=above.privacy_unit,
                neighboring_relation=above.neighboring_relation,
            )
        )  # fmt: skip
        return account

    def answer(self, ticket):
        """The answer to a ticket that is in the ledger; None if there is none."""
        return self.ledger.answer(ticket.reservation.account, ticket.prepared.key)


@contextmanager
def asking(file):
    """The half of a gateway of a curator whose worker has opened the ledger."""
    curator = load_curator(file)
    with open_ledger(curator.ledger, must_exist=True) as ledger:
        yield Asking(curator, ledger, Datasets(curator, ledger))


def until(condition, *, seconds=PATIENCE):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it does not come to that"
        time.sleep(0.01)
    return found


def processes_below(process_id):
    """The numbers of all processes that a process has started, and those have."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with ExitStack() as gone:
            gone.callback(lambda: None)
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(stat.parent.name)] = int(fields[1])
    found = {process_id}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process_id}


def is_alive(process_id):
    """Whether a process runs, and is not only waited for."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def name_of(process_id):
    """How a process was started."""
    return Path(f"/proc/{process_id}/cmdline").read_bytes().replace(b"\0", b" ").decode()


@contextmanager
def program(*words):
    """A program of this package, which is ended with all that it started."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen([sys.executable, "-m", *map(str, words)], env=environment, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        left = {process.pid, *processes_below(process.pid)}
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        finally:
            for one in left:
                if is_alive(one):
                    os.kill(one, signal.SIGKILL)
            process.stderr.close()


def documents(text):
    """The lines of a log."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]
