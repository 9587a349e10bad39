"""Files to deploy a server with: they parse, their examples load, and each part reaches only what it needs.

No container was built and no unit was started here: that takes a Docker daemon and a system that systemd runs. Where
systemd's own tools are installed, they examine the units.
"""

import re
import shlex
import shutil
import subprocess
from collections import defaultdict

import pytest
import yaml
from tests.meta.repository import ROOT

from sfumato.query.policy.file import load_policy
from sfumato.server.config import load_curator
from sfumato.server.operations.findings import Level
from sfumato.server.operations.people import examine_datasets

DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text("utf-8"))
SERVICES = ("worker", "gateway")
UNITS = ("sfumato-worker", "sfumato-gateway", "sfumato-backup")
ANALYZE = shutil.which("systemd-analyze") or "true"
EXPOSED = 20
"""Of 100: the most that `systemd-analyze security` may call a unit exposed, which calls this OK."""
HARDENED = {
    "NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "ProtectSystem": "strict", "ProtectHome": "yes",
    "PrivateTmp": "yes", "PrivateDevices": "yes", "UMask": "0077", "LimitCORE": "0", "User": "sfumato",
    "SystemCallArchitectures": "native",
}  # fmt: skip


def instructions():
    """The instructions of the Dockerfile, by stage, with lines that go on joined."""
    content = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text("utf-8"))
    lines = [line for line in content.splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(" ", 1)) for line in lines]


def unit(name):
    """The settings of a unit, by section; each with all of its values."""
    found, section = defaultdict(lambda: defaultdict(list)), None
    for line in (DEPLOY / "systemd" / name).read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, equals, value = line.partition("=")
            assert equals, line
            found[section][key].append(value)
    return found


# The image


def test_the_image_runs_as_a_user_of_its_own_and_has_only_packages_with_hashes():
    found = instructions()
    last = found[max(place for place, (word, _) in enumerate(found) if word == "FROM") :]
    assert [value for word, value in last if word == "USER"] == ["10001:10001"]
    assert not [value for word, value in last if word in {"RUN", "ADD"} and "pip" in value]
    installed = [value for word, value in found if word == "RUN" and "pip install" in value]
    assert all("--require-hashes" in value or "--no-deps" in value for value in installed)
    sources = [value.split()[:-1] for word, value in found if word == "COPY" and "--from" not in value]
    copied = {part for parts in sources for part in parts}
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied <= kept
    assert all((ROOT / part).exists() for part in kept)


def test_requirements_of_the_image_are_those_that_were_tested():
    def locked(name):
        content = (ROOT / "requirements" / name).read_text("utf-8")
        return dict(re.findall(r"^([\w.-]+)==([\w.]+)", content, re.MULTILINE)), content

    server, content = locked("server.txt")
    tested, _ = locked("test.txt")
    assert {"fastapi", "uvicorn", "sqlalchemy", "psycopg", "hatchling"} <= set(server)
    assert {name: tested.get(name) for name in server} == server
    assert content.count("--hash=sha256:") >= len(server)
    assert "requirements/server.txt" in (ROOT / "Makefile").read_text()


# Containers


def test_only_the_worker_reaches_the_data_and_only_the_gateway_is_reached():
    networks = {name: set(service["networks"]) for name, service in COMPOSE["services"].items()}
    assert networks == {
        "worker": {"data", "ledger"}, "gateway": {"clients", "ledger"}, "ledger-db": {"ledger"}, "data-db": {"data"}
    }  # fmt: skip
    assert {name for name, one in COMPOSE["networks"].items() if one.get("internal")} == {"ledger", "data"}
    assert {name for name, service in COMPOSE["services"].items() if "ports" in service} == {"gateway"}
    assert not any("policies" in volume for volume in COMPOSE["services"]["gateway"]["volumes"])


@pytest.mark.parametrize("name", SERVICES)
def test_containers_of_the_server_may_write_nothing_but_their_state(name):
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert (service["user"], service["cap_drop"]) == ("10001:10001", ["ALL"])
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["ulimits"] == {"core": 0}
    assert service["memswap_limit"] == service["mem_limit"]  # so that there is no swap
    assert [volume for volume in service["volumes"] if not volume.endswith(":ro")] == ["state:/var/lib/sfumato"]
    assert service["command"][-1] == {"worker": "worker", "gateway": "gateways"}[name]


def test_no_password_is_in_the_files():
    for path in DEPLOY.rglob("*"):
        if path.is_file():
            assert not re.search(r"://\w+:[^@\s/]+@|PASSWORD: |PASSWORD=", path.read_text("utf-8")), path
    assert all(secret["file"].startswith("secrets/") for secret in COMPOSE["secrets"].values())


# Units


@pytest.mark.parametrize("name", UNITS)
def test_units_are_hardened(name):
    service = unit(f"{name}.service")["Service"]
    assert {key: service[key][0] for key in HARDENED} == HARDENED
    assert "@system-service" in service["SystemCallFilter"][0]
    assert service["ExecStart"][0].startswith(
        ("/opt/sfumato/bin/sfumato ", "/bin/sh -c 'exec /opt/sfumato/bin/sfumato ")
    )


@pytest.fixture
def analyzed(tmp_path):
    """Runs systemd's tool on copies of the units, whose program is one that is installed here."""
    for path in (DEPLOY / "systemd").glob("sfumato-*"):
        content = path.read_text("utf-8").replace("/opt/sfumato/bin/sfumato", shutil.which("true"))
        (tmp_path / path.name).write_text(content)
    return lambda *command: subprocess.run(
        [ANALYZE, *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", UNITS)
def test_systemd_says_that_a_unit_is_hardly_exposed(analyzed, name):
    done = analyzed("security", "--offline=true", "--no-pager", f"--threshold={EXPOSED}", f"./{name}.service")
    assert done.returncode == 0, done.stdout[-2000:]


def test_systemd_reads_the_units_without_a_warning(analyzed):
    done = analyzed("verify", *(f"./{name}.service" for name in UNITS), "./sfumato-backup.timer")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_units_keep_the_data_from_gateways_and_the_worker_from_the_network():
    worker, gateway = (unit(f"sfumato-{name}.service")["Service"] for name in SERVICES)
    assert worker["RestrictAddressFamilies"] == ["AF_UNIX"]
    assert worker["PrivateNetwork"] == ["yes"]
    assert {"/srv/sfumato/data", "/etc/sfumato/policies"} == set(gateway["InaccessiblePaths"])
    assert shlex.split(worker["ExecStart"][0])[-2:] == ["--only", "worker"]
    assert shlex.split(gateway["ExecStart"][0])[-2:] == ["--only", "gateways"]
    for service in (worker, gateway):
        assert service["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
        assert service["KillMode"] == ["mixed"]  # the supervisor ends the others, gateways first
        assert int(service["TimeoutStopSec"][0]) > 2 * 35


def test_the_timer_makes_backups():
    assert unit("sfumato-backup.timer")["Timer"]["OnCalendar"] == ["daily"]
    assert " curator backup " in unit("sfumato-backup.service")["Service"]["ExecStart"][0]


# Examples


@pytest.mark.parametrize("kind", ["compose", "systemd"])
def test_examples_load_and_a_check_has_nothing_against_what_they_declare(kind, tmp_path):
    folder = tmp_path / kind
    shutil.copytree(DEPLOY / kind, folder)
    (folder / "tls").mkdir()
    for name in ("certificate.pem", "key.pem"):
        (folder / "tls" / name).touch()
    curator = load_curator(folder / "curator.toml")
    assert curator.gateways == 2
    assert str(curator.state) == "/var/lib/sfumato/state"
    for name, dataset in curator.datasets.items():
        assert load_policy(dataset.policy).dataset == name
        assert dataset.second_person
    assert {one.level for one in examine_datasets(curator)} == {Level.FINE}
