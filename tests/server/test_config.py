"""`curator.toml` is read exactly, refused with the place of what is wrong, and documented entry by entry."""

import json
import re

import pytest
from pydantic import BaseModel
from tests.meta.repository import ROOT

from sfumato.errors import ParameterError, PolicyError
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow
from sfumato.local import CountMeanSketch, DirectEncoding, save_protocol
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.server.config import CuratorEntry, load_curator

DATASET = '[datasets.people]\npolicy = "people.toml"\nbudget = { epsilon = 1 }\n'
TOO_MANY = CountMeanSketch(4, epsilon=4, hashes=2_048, width=1_024)
PAGE = ROOT / "docs" / "how-to" / "server" / "curator-file.md"


@pytest.fixture
def load(tmp_path):
    """The curator of a text; without a dataset in it, one is added."""

    def loaded(text="", *, dataset=DATASET):
        file = tmp_path / "curator.toml"
        file.write_text(text + "\n" + dataset, "utf-8")
        return load_curator(file)

    return loaded


def refused(load, text, match, *, dataset=DATASET):
    with pytest.raises(PolicyError, match=match) as raised:
        load(text, dataset=dataset)
    return raised.value


# What it says


def test_a_collection_has_a_protocol_in_a_file(load, tmp_path):
    protocol = DirectEncoding(["tea", "coffee"], epsilon=1)
    save_protocol(protocol, tmp_path / "drinks.json")
    found = load('[collections.drinks]\nprotocol = "drinks.json"\nreaders = ["ann"]').collections["drinks"]
    assert (found.name, found.protocol, found.is_public) == ("drinks", protocol, False)
    assert found.readers == {"ann"}
    assert found.origins == ()


ORIGINS = ["https://shop.example", "https://shop.example:8443", "http://localhost:8080", "http://127.0.0.1"]


def test_a_collection_names_the_sites_whose_pages_may_send(load, tmp_path):
    save_protocol(DirectEncoding(2, epsilon=1), tmp_path / "p.json")
    collection = '[collections.drinks]\nprotocol = "p.json"\norigins = {}'
    assert load(collection.format(json.dumps(ORIGINS))).collections["drinks"].origins == tuple(ORIGINS)
    wrong = (
        "*", "null", "", "shop.example", "https://shop.example/", "https://Shop.example", "https://shop.example:443",
        "http://shop.example", "http://localhost:80", "https://*.example", "https://a.example https://b.example",
        "https://user@shop.example", "file://", "http://localhost.evil.example", "https://shop.example:080",
    )  # fmt: skip
    for origin in wrong:
        refused(load, collection.format(json.dumps([*ORIGINS, origin])), "must be like https://shop.example")


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("drinks", None, "must be a file that can be read"),
        ("drinks", "{}", "must be a JSON object"),
        ("drinks", TOO_MANY.to_json(), "at most 1,048,576 counts"),
        ("a/b", DirectEncoding(2, epsilon=1).to_json(), "must have a name"),
    ],
)
def test_a_collection_that_cannot_be_served_is_refused_at_the_start(load, tmp_path, name, content, match):
    if content is not None:
        (tmp_path / "p.json").write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    refused(load, f'[collections."{name}"]\nprotocol = "p.json"', match)


def test_a_file_with_one_dataset_is_enough(load, tmp_path):
    curator = load()
    assert (curator.host, curator.port, curator.url) == ("127.0.0.1", 8000, "http://127.0.0.1:8000")
    assert curator.state == tmp_path / "state"
    assert curator.ledger == f"sqlite:///{tmp_path / 'ledger.db'}"
    assert curator.database == f"sqlite:///{tmp_path / 'state' / 'server.db'}"
    assert curator.datasets["people"].policy == tmp_path / "people.toml"
    assert curator.datasets["people"].budget == PureDP(1)
    assert repr(curator) == "<Curator of people at http://127.0.0.1:8000>"


@pytest.mark.parametrize(
    ("written", "budget"),
    [
        ('{ epsilon = "0.1" }', PureDP("0.1")),
        ("{ epsilon = 0.1 }", PureDP("0.1")),
        ('{ epsilon = 3, delta = "1e-6" }', ApproxDP(3, "1e-6")),
        ('{ rho = "0.5", delta = "1e-6" }', ZCDP("0.5", "1e-6")),
        ("{ epsilon = 0 }", PureDP(0)),
    ],
)
def test_budgets_are_read_exactly(load, written, budget):
    dataset = DATASET.replace("{ epsilon = 1 }", written)
    assert load(dataset=dataset).datasets["people"].budget == budget
    assert load(dataset=DATASET + f"lifetime = {written}").datasets["people"].lifetime == budget


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("{ }", "datasets.people.budget"), ("{ epsilon = 1, rho = 1 }", "datasets.people.budget"),
        ("{ epsilon = -1 }", r"datasets.people.budget.epsilon"), ("{ epsilon = inf }", "datasets.people.budget"),
        ("{ epsilon = nan }", "datasets.people.budget"), ('{ epsilon = "much" }', r"datasets.people.budget.epsilon"),
        ("{ epsilon = 1, delta = 2 }", r"datasets.people.budget.delta"), ("1", "datasets.people.budget"),
        ("{ epsilon = 1, gamma = 2 }", "datasets.people.budget.gamma"),
        ("{ epsilon = true }", "datasets.people.budget"),
    ],
)  # fmt: skip
def test_a_budget_that_is_none_is_refused_with_its_place(load, written, place):
    refused(load, "", place, dataset=DATASET.replace("{ epsilon = 1 }", written))


@pytest.mark.parametrize(
    ("written", "window"), [('{ calendar = "month" }', CalendarWindow("month")), ("{ days = 30 }", RollingWindow(30))]
)
def test_windows_are_read(load, written, window):
    assert load(dataset=DATASET + f"window = {written}").datasets["people"].window == window


@pytest.mark.parametrize("written", ["{ }", '{ calendar = "month", days = 1 }', '{ calendar = "eon" }', "{ days = 0 }"])
def test_a_window_that_is_none_is_refused(load, written):
    refused(load, "", "datasets.people.window", dataset=DATASET + f"window = {written}")


# Addresses


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [("127.0.0.1:0", "127.0.0.1", 0), ("[::1]:80", "::1", 80), ("localhost:65535", "localhost", 65535)],
)
def test_addresses_are_read_and_shown(load, address, host, port):
    curator = load(f'address = "{address}"')
    assert (curator.host, curator.port) == (host, port)
    assert curator.is_loopback
    assert curator.url == f"http://{address}"
    assert curator.url_at(7).endswith(":7")


@pytest.mark.parametrize("address", ["127.0.0.1", ":80", "host:", "host:65536", "host:-1", "host:x", ""])
def test_an_address_that_is_none_is_refused(load, address):
    refused(load, f'address = "{address}"', "address")


@pytest.mark.parametrize("address", ["0.0.0.0:80", "[::]:80", "10.0.0.1:80", "example.org:80"])
def test_others_reach_it_by_tls_alone_or_by_a_proxy_that_has_it(load, tmp_path, address):
    refused(load, f'address = "{address}"', "must be a loopback address, or have")
    assert not load(f'address = "{address}"\ninsecure = true').is_loopback
    for name in ("cert.pem", "key.pem"):
        (tmp_path / name).write_text("")
    curator = load(f'address = "{address}"\n[tls]\ncertificate = "cert.pem"\nkey = "key.pem"')
    assert curator.tls == (tmp_path / "cert.pem", tmp_path / "key.pem")
    assert curator.url.startswith("https://")


def test_a_certificate_that_is_not_there_is_refused(load):
    refused(load, '[tls]\ncertificate = "cert.pem"\nkey = "key.pem"', "must name existing files")


# What it refuses


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("gateways = 0", "gateways"), ("gateways = 65", "gateways"), ('gateways = "2"', "gateways"),
        ("[work]\nquantum = -1", "work.quantum"), ("[work]\nquantum = inf", "work.quantum"),
        ("[work]\nseconds = 0", "work.seconds"), ("[work]\nseconds = nan", "work.seconds"),
        ("[work]\nrows_per_second = 0", "work.rows_per_second"), ("[work]\nmemory = 1", "work.memory"),
        ("[work]\nqueue = 0", "work.queue"), ("[work]\ntickets = 0", "work.tickets"),
        ("[limits]\nbody_bytes = 1", "limits.body_bytes"), ('log_level = "loud"', "log_level"),
        ("unknown = 1", "unknown"), ("[limits]\nunknown = 1", "limits.unknown"), ('ledger = "memory:"', "ledger"),
    ],
)  # fmt: skip
def test_what_is_impossible_is_refused_with_its_place(load, text, place):
    refused(load, text, f"^policy, at {re.escape(place)}: ")


def test_a_file_may_have_no_datasets_yet(load):
    assert load("", dataset="").datasets == load("", dataset="[datasets]").datasets == {}


@pytest.mark.parametrize(
    "name", ["", " ", "a/b", "../x", " a", "a ", "a\\nb", "a\\u0000", "people 2026", "x" * 61], ids=repr
)
def test_names_of_datasets_that_cannot_name_files_and_accounts_are_refused(load, name):
    refused(load, "", "must have a name of at most 60 letters", dataset=DATASET.replace("people]", f'"{name}"]'))


@pytest.mark.parametrize("name", ["people", "people-2026", "läufer", "a.b@c:d", "x" * 60])
def test_other_names_of_datasets_are_fine(load, name):
    curator = load(dataset=DATASET.replace("people]", f'"{name}"]'))
    for file in (curator.declarations(name), curator.version(name), curator.mark(name)):
        assert file.parent == curator.state
        assert file.name not in {".", ".."}


def test_no_two_files_of_a_state_are_the_same(load):
    curator = load()
    files = [curator.socket, curator.secret, curator.state / "server.db", curator.state / "worker.lock"]
    files += [of("people") for of in (curator.declarations, curator.version, curator.mark)]
    assert len(set(files)) == 7


def test_a_file_that_is_no_toml_or_none_is_refused(tmp_path, load):
    refused(load, "x = = 1", "the file is not TOML")
    with pytest.raises(ParameterError, match="must be an existing TOML file"):
        load_curator(tmp_path / "none.toml")


def test_passwords_are_not_shown(load):
    curator = load(
        'ledger = "postgresql://curator:secret@host/base"\ndatabase = "postgresql+psycopg://x:secret@host/b"'
    )
    assert curator.ledger == "postgresql://curator:secret@host/base"
    assert "secret" not in repr(curator)
    error = refused(load, 'database = ["postgresql://x:secret@host"]', "database")
    assert "secret" not in str(error)


# The folder


def test_the_folder_is_for_its_user_alone(load, tmp_path):
    curator = load('state = "a/b"')
    curator.make_state()
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    curator.make_state()


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o777])
def test_a_folder_that_others_may_open_is_refused(load, tmp_path, mode):
    (tmp_path / "state").mkdir(mode=0o700)
    (tmp_path / "state").chmod(mode)
    with pytest.raises(ParameterError, match="only this user may open"):
        load().make_state()


def test_a_file_in_place_of_the_folder_is_refused(load, tmp_path):
    (tmp_path / "state").write_text("")
    with pytest.raises(ParameterError, match="only this user may open"):
        load().make_state()


def test_synthetic_data_stand_beside_a_dataset_of_the_same_file(load, tmp_path):
    text = '[synthetic.twins]\nreleases = "twins.json"\nreaders = ["ann"]\n'
    alone = load(text).synthetic["twins"]
    assert (alone.releases, alone.public, alone.dataset) == (str(tmp_path / "twins.json"), False, None)
    name = next(iter(load(text).datasets))
    assert load(f'{text}dataset = "{name}"').synthetic["twins"].dataset == name
    refused(load, f'{text}dataset = "others"', r"synthetic\.twins\.dataset.*must be a dataset of this file")
    refused(load, text.replace("twins]", '"a b"]'), "must have a name")


# The page


def entries(model, prefix=""):
    """The places of all entries of a part of the file."""
    for name, field in model.model_fields.items():
        kinds = [one for one in getattr(field.annotation, "__args__", (field.annotation,)) if isinstance(one, type)]
        inner = next((one for one in kinds if issubclass(one, BaseModel)), None)
        if inner is None:
            yield prefix + name
        elif name in {"datasets", "providers", "collections", "counters", "maps", "synthetic"}:
            yield from entries(inner, f"{name}.NAME.")
        else:
            yield from entries(inner, f"{prefix}{name}.")


def test_every_entry_is_in_the_page_about_the_file():
    documented = set(re.findall(r"^\| `([\w.]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE))
    assert documented == set(entries(CuratorEntry))


def test_the_example_of_the_page_is_a_curator(tmp_path):
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    file = tmp_path / "curator.toml"
    file.write_text(example, "utf-8")
    assert list(load_curator(file).datasets) == ["hospital"]
