"""What is declared of datasets and who may do what with them, examined."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from typing import Final

from sqlalchemy import func, select

from sfumato.privacy.budgets import ZCDP, Budget
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.server.config import Curator, Dataset
from sfumato.server.identity.database import Database
from sfumato.server.identity.keys import ApiKey
from sfumato.server.identity.people import Action, Directory, Grant, Person, Role
from sfumato.server.identity.tables import ACTS
from sfumato.server.operations.findings import Finding, advice, failure, fine, warning

_LARGE: Final = Fraction(10)
_UNUSED: Final = timedelta(days=90)
_RECENT: Final = timedelta(days=30)
_OFTEN: Final = 0.01
"""The share of queries that take longer than their time class from which on `declared_rows` is wrong."""


def examine_datasets(curator: Curator) -> Iterator[Finding]:
    """Budgets, and what decides how long answers take, as the curator's file declares them."""
    if curator.work.quantum == 0:
        seen = "`quantum = 0`: answers come when they are ready, so their time depends on rows"
        yield failure("time of answers", seen, "remove `quantum` from [work], or set at least 0.05")
    for name, dataset in curator.datasets.items():
        subject = f"budget of {name}"
        if dataset.window is not None and dataset.lifetime is None:
            seen = f"{dataset.budget} comes back {dataset.window}, without end"
            yield warning(subject, seen, f"state the most that may ever be spent: [datasets.{name}] lifetime = …")
        yield from _sizes(subject, dataset)


def _sizes(subject: str, dataset: Dataset) -> Iterator[Finding]:
    whole = dataset.budget if dataset.lifetime is None else dataset.lifetime
    epsilon, delta = _epsilon_delta(whole)
    if delta * dataset.declared_rows >= 1:
        seen = f"δ is 1 in {int(1 / delta):,} or more, and there are about {dataset.declared_rows:,} rows"
        yield failure(subject, seen, "declare a δ far below 1 / declared_rows: whole rows may be released otherwise")
    if epsilon > _LARGE:
        yield warning(subject, f"{whole} protects people little: ε is above {_LARGE}", "declare a smaller budget")
    else:
        yield fine(subject, str(whole))


def _epsilon_delta(budget: Budget) -> tuple[Fraction, Fraction]:
    match budget:
        case PureDP():
            return budget.epsilon, Fraction(0)
        case ApproxDP():
            return budget.epsilon, budget.delta
        case ZCDP():
            return budget.rho, budget.delta  # the ε of a ρ is larger than it
        case _:
            return _LARGE + 1, Fraction(0)


def examine_people(curator: Curator, database: Database) -> Iterator[Finding]:
    """Admins, owners and analysts, and whether what needs two persons has two."""
    directory = Directory(database)
    people = {person.name: person for person in directory.people()}
    yield from _admins([person for person in people.values() if person.is_platform_admin and person.is_active])
    for name, dataset in curator.datasets.items():
        granted = directory.grants_on(name)
        yield from _owners(name, dataset, [who for who, grant in granted if _is_owner(people[who], grant)])
        both = {who for who, grant in granted if _is_owner(people[who], grant)} & {
            who for who, grant in granted if grant.role is Role.ANALYST
        }
        if both and dataset.owners_may_ask:
            seen = f"{', '.join(sorted(both))} may set budgets and spend them"
            yield advice(f"owners of {name}", seen, "give both roles to different people, or `owners_may_ask = false`")
        left = sorted({who for who, _ in granted if not people[who].is_active})
        if left:
            seen = f"{', '.join(left)} are inactive and have roles"
            yield warning(f"people of {name}", seen, f"DELETE /v1/people/NAME/grants/{name}")


def _is_owner(person: Person, grant: Grant) -> bool:
    return person.is_active and grant.role is Role.OWNER


def _admins(admins: list[Person]) -> Iterator[Finding]:
    if not admins:
        yield failure("admins", "there is none", "sfumato curator add-admin NAME --config curator.toml")
    elif len(admins) == 1:
        yield advice("admins", "there is one; if they are away, nobody makes keys", "add a second one")
    else:
        yield fine("admins", f"there are {len(admins)}")


def _owners(name: str, dataset: Dataset, owners: list[str]) -> Iterator[Finding]:
    subject, fix = (
        f"owners of {name}",
        f'name owners: POST /v1/people/NAME/grants {{"dataset": "{name}", "role": "owner"}}',
    )
    if not owners:
        yield warning(subject, "there is none: nobody can give roles, or acknowledge a failure", fix)
    elif dataset.second_person and len(owners) == 1:
        yield failure(subject, "there is one, and a larger budget needs a second person", fix)
    elif not dataset.second_person:
        seen = "each of them can raise the budget alone"
        yield advice(subject, seen, f"set `second_person = true` in [datasets.{name}]")
    else:
        yield fine(subject, f"there are {len(owners)}, and a larger budget needs two")


def examine_keys(database: Database, keys: tuple[ApiKey, ...]) -> Iterator[Finding]:
    """API keys that work for ever, or that nobody uses.

    Args:
        database: Tells the time.
        keys: All keys.
    """
    now = database.now()
    valid = [key for key in keys if key.revoked is None and (key.expires is None or key.expires > now)]
    endless = [key for key in valid if key.expires is None]
    if endless:
        seen = f"{_listed(endless)} never expire"
        yield warning("API keys", seen, 'make new ones with "expires", and revoke these')
    unused = [key for key in valid if now - (key.last_used or key.created) > _UNUSED]
    if unused:
        yield warning("API keys", f"{_listed(unused)} were not used for {_UNUSED.days} days", "DELETE /v1/keys/KEY")
    if not endless and not unused:
        yield fine("API keys", f"{len(valid)} are valid; each expires and is used")


def _listed(keys: list[ApiKey]) -> str:
    first = ", ".join(f"{key.id} of {key.person}" for key in keys[:3])
    return first if len(keys) <= 3 else f"{first} and {len(keys) - 3} more"  # noqa: PLR2004 # as above


def examine_overruns(curator: Curator, database: Database) -> Iterator[Finding]:
    """Whether answers took longer than their time class, which says that `declared_rows` is too low."""
    since = database.now() - _RECENT
    counted = (
        select(ACTS.c.dataset, ACTS.c.action, func.count())
        .where(ACTS.c.at >= since, ACTS.c.action.in_([Action.OVERRUN.value, Action.ASK.value]))
        .group_by(ACTS.c.dataset, ACTS.c.action)
    )
    with database.reading() as connection:
        found = Counter({(dataset, action): number for dataset, action, number in connection.execute(counted)})
    for name, dataset in curator.datasets.items():
        late, asked = found[name, Action.OVERRUN.value], found[name, Action.ASK.value]
        seen = f"{late:,} of {asked:,} answers within {_RECENT.days} days took longer than their time class"
        fix = f"raise `declared_rows = {dataset.declared_rows}` of [datasets.{name}] to what is publicly known"
        if late > _OFTEN * max(asked, 1):
            yield warning(f"time of answers of {name}", seen, fix)
        elif late:
            yield advice(f"time of answers of {name}", seen, fix)
        else:
            yield fine(f"time of answers of {name}", seen)
