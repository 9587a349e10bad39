"""The client in browsers makes Python's reports, of the browser's randomness, and sends each batch once."""

import json
from datetime import UTC, datetime, timedelta
from math import prod
from pathlib import Path

import pytest
from scipy.stats import binom
from tests.laws import ALPHA
from tests.local.browser.vectors import SECRET, VECTORS, made
from tests.server.dashboard.chromium import opened
from tests.sizes import FULL_SIZE

from sfumato import local
from sfumato.errors import ParameterError
from sfumato.local import CountMeanSketch, DirectEncoding, OptimizedUnaryEncoding, Rappor, protocol_from_json
from sfumato.local.frequency.packing import packed_bits

SCRIPT = Path(local.__path__[0]) / "browser" / "sfumato-local.js"
SITE = "https://shop.test"
POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'"
LARGEST = 15_000
REPORTS = 400_000 if FULL_SIZE else 20_000
HASHED = 20_000 if FULL_SIZE else 2_000  # those that take hashes, which browsers compute in a thread of their own
FAIR = {"f": "1/2", "p": "1/2", "q": "3/4"}
TEA = DirectEncoding(["tea", "coffee"], epsilon=1)
KINDS = (
    DirectEncoding(4, epsilon=1),
    OptimizedUnaryEncoding(4, epsilon=1),
    CountMeanSketch(4, epsilon=1, hashes=2, width=4),
    Rappor(bits=8, hashes=2, cohorts=2, **FAIR),
)
BYTES = "const bytes = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));"
HEX = "const hex = (found) => Array.from(found, (byte) => byte.toString(16).padStart(2, '0')).join('');"
FEED = """const feed = (source) => {
  const read = { count: 0 };
  crypto.getRandomValues = (array) => {
    for (let at = 0; at < array.length; at++) array[at] = source[read.count++ % source.length];
    return array;
  };
  return read;
};"""


WRONG_OF_PAGES = []


def text():
    return SCRIPT.read_text("utf-8")


@pytest.fixture(scope="module")
def context():
    """A browser that visits a site whose pages hold nothing but the client."""
    files = {
        "/": ("text/html", "<!doctype html><title>shop</title>"),
        "/sfumato-local.js": ("text/javascript", text()),
        "/vectors.json": ("application/json", VECTORS.read_text("utf-8")),
    }

    def serve(route):
        kind, body = files[route.request.url.removeprefix(SITE)]
        route.fulfill(body=body, headers={"Content-Type": kind, "Content-Security-Policy": POLICY})

    with opened() as browser:
        found = browser.new_context()
        found.route(f"{SITE}/**", serve)
        yield found
        found.close()


@pytest.fixture(scope="module")
def tab(context):
    found = context.new_page()
    found.on("pageerror", lambda error: WRONG_OF_PAGES.append(str(error)))
    return found


@pytest.fixture
def page(tab):
    """The page as it was loaded, whatever tests before have put in the place of its functions."""
    tab.goto(f"{SITE}/")
    yield tab
    tab.unroute_all()
    assert WRONG_OF_PAGES == []


def run(page, body, given=None):
    """What statements return that have the client and what they are given."""
    client = "const { createClient, send, storedSecret } = await import('/sfumato-local.js');"
    return page.evaluate(f"async (given) => {{ {client} {BYTES} {HEX} {FEED} {body} }}", given)


# Bytes


def test_the_golden_reports_are_those_of_python():
    assert json.loads(VECTORS.read_text("utf-8")) == made()


def test_reports_are_those_of_python_of_the_same_bits(page):
    body = """
      const wrong = [];
      let count = 0;
      for (const { protocol, secret, reports } of await (await fetch("/vectors.json")).json()) {
        const client = await createClient(protocol, secret ? { secret: bytes(secret) } : {});
        for (const { value, bits, drawn, report } of reports) {
          const read = feed(bytes(bits)), found = hex(await client.report(value));
          if (found !== report || read.count !== drawn) wrong.push([protocol.kind, value, found, report]);
          count++;
        }
      }
      return [count, wrong.slice(0, 3)];"""
    assert run(page, body) == [sum(len(each["reports"]) for each in made()), []]


def test_the_script_is_small_and_written_to_be_read():
    assert len(text().encode()) <= LARGEST
    assert max(map(len, text().splitlines())) <= 120


# Randomness


def test_randomness_is_that_of_the_browsers_generator_alone(page):
    assert "Math.random" not in text()
    body = """
      Math.random = Date.now = () => { throw new Error("this is no secret"); };
      const read = [];
      for (const { protocol, ...options } of given) {
        const secret = options.secret && bytes(options.secret);
        const client = await createClient(protocol, { secret });
        const drawn = feed([7, 9, 1]);
        await client.report("1");
        read.push(drawn.count);
        crypto.getRandomValues = () => { throw new Error("no entropy"); };
        await client.report("1").then(() => read.push("a report without entropy"), () => {});
      }
      return read;"""
    options = [{"secret": SECRET.hex()} if isinstance(kind, Rappor) else {} for kind in KINDS]
    given = [{"protocol": kind.to_json(), **kept} for kind, kept in zip(KINDS, options, strict=True)]
    assert all(isinstance(count, int) and count > 0 for count in run(page, body, given))


@pytest.mark.statistical
@pytest.mark.parametrize("protocol", KINDS, ids=lambda protocol: protocol.kind)
def test_reports_have_the_exact_probabilities(page, protocol):
    """Each payload is as frequent as its exact probability says."""
    body = """
      const client = await createClient(given.protocol, given.secret ? { secret: bytes(given.secret) } : {});
      const counts = {};
      for (let sent = 0; sent < given.reports; sent++) {
        const payload = hex((await client.report("value" in given ? given.value : 1)).slice(5));
        counts[payload] = (counts[payload] ?? 0) + 1;
      }
      return counts;"""
    reports = REPORTS if protocol in KINDS[:2] else HASHED
    given = {"protocol": protocol.to_json(), "reports": reports}
    if isinstance(protocol, Rappor):
        given |= {"secret": SECRET.hex(), "value": "v1"}
    counts = {bytes.fromhex(payload): count for payload, count in run(page, body, given).items()}
    expected = probabilities(protocol)
    assert set(counts) <= set(expected)
    assert sum(expected.values()) == 1
    for payload, probability in expected.items():
        low, high = binom.interval(1 - ALPHA / len(expected), reports, float(probability))
        found = counts.get(payload, 0)
        assert low <= found <= high, (payload, found, float(probability), f"type-I error {ALPHA}")


def probabilities(protocol):
    """The exact probability of each payload of the value 1, or of the device's permanent response to "v1"."""
    if isinstance(protocol, Rappor):
        client = protocol.client(secret=SECRET)
        ones = [protocol.q if bit else protocol.p for bit in client.permanent("v1")]
        head = bytes([client.cohort])
        return {head + bytes([sum(bit << at for at, bit in enumerate(bits))]): share for bits, share in rows(ones)}
    if isinstance(protocol, DirectEncoding):
        held, other = protocol.support_probabilities
        return {bytes([value]): held if value == 1 else other for value in range(len(protocol.domain))}
    if isinstance(protocol, OptimizedUnaryEncoding):
        held, other = protocol.support_probabilities
        return {packed(bits): share for bits, share in rows([held if value == 1 else other for value in range(4)])}
    return of_sketch(protocol)


def of_sketch(protocol):
    import numpy as np

    from sfumato.local.sketches.polynomials import columns_of

    held, other = protocol.column_probabilities
    found = {}
    for row in range(protocol.hashes):
        (column,) = columns_of(np.array([row]), np.array([1]), functions=protocol.hashes, columns=protocol.width)
        for bits, share in rows([held if at == column else other for at in range(protocol.width)]):
            found[bytes([row]) + packed(bits)] = share / protocol.hashes
    return found


def rows(ones):
    """All rows of independent bits, with their probabilities."""
    size = len(ones)
    for number in range(1 << size):
        bits = [number >> at & 1 for at in range(size)]
        yield bits, prod(share if bit else 1 - share for bit, share in zip(bits, ones, strict=True))


def packed(bits):
    import numpy as np

    return packed_bits(np.array([bits], dtype=np.bool_)).tobytes()


# Values


def test_no_value_is_an_error_and_what_is_none_of_the_domain_is_like_a_missing_one(page):
    body = """
      const objects = [{}, [1], new String("tea"), () => 1, new Date()];
      const odd = [undefined, NaN, Infinity, Symbol("1"), 2n ** 70n, -1n, ...objects];
      const different = [];
      for (const protocol of given) {
        const client = await createClient(protocol, { secret: bytes("07".repeat(16)) });
        const made = async (value) => (feed([5, 250, 17, 99, 3, 180, 77]), hex(await client.report(value)));
        const missing = await made(null);
        if (!(await made("\\u00e9".repeat(150_000)))) different.push([protocol, "a long text"]);
        for (const value of odd) if ((await made(value)) !== missing) different.push([protocol, String(value)]);
      }
      return different;"""
    domains = [
        {"size": 9},
        {"size": 9, "other": 4},
        {"labels": ["tea", 1, 2]},
        {"labels": ["tea", "other"], "other": "other"},
    ]
    given = [{**TEA.to_json(), "domain": domain} for domain in domains]
    given += [{**KINDS[2].to_json(), "domain": {"hash_bits": 20}}, KINDS[3].to_json()]
    assert run(page, body, given) == []


def test_whole_numbers_of_both_types_are_one_value(page):
    body = """
      const client = await createClient(given);
      const made = async (value) => (feed([255]), hex(await client.report(value)));
      return Promise.all([3, 3n, 1, true, 0, false, -0].map(made));"""
    three, same, one, true, zero, false, negative = run(page, body, DirectEncoding(9, epsilon=1).to_json())
    assert three == same != one == true != zero == false == negative


# Protocols

DIRECT, SKETCH, RAPPOR = DirectEncoding(4, epsilon=1).to_json(), KINDS[2].to_json(), KINDS[3].to_json()
OF_PYTHON_ALONE = ({**DIRECT, "kind": "subset"}, {**DIRECT, "domain": {"labels": [0, 2**53]}})
"""Of a kind that browsers do not have, and with a number that JavaScript rounds."""

WRONG = (
    ("protocol", None), ("protocol", []), ("protocol", "direct"), ("protocol", {**DIRECT, "version": 2}),
    ("protocol", {**DIRECT, "kind": "constructor"}), ("protocol", OF_PYTHON_ALONE[0]), ("labels", OF_PYTHON_ALONE[1]),
    ("protocol", {**DIRECT, "seed": 1}), ("protocol", {"version": 1, "kind": "direct", "epsilon": "1"}),
    ("epsilon", {**DIRECT, "epsilon": 1}), ("epsilon", {**DIRECT, "epsilon": "0.5"}),
    ("epsilon", {**DIRECT, "epsilon": "2/4"}), ("epsilon", {**DIRECT, "epsilon": "01"}),
    ("epsilon", {**DIRECT, "epsilon": "1/1"}), ("epsilon", {**DIRECT, "epsilon": "1/0"}),
    ("epsilon", {**DIRECT, "epsilon": "0"}), ("epsilon", {**DIRECT, "epsilon": "101"}),
    ("epsilon", {**DIRECT, "epsilon": "1/1000001"}), ("epsilon", {**DIRECT, "epsilon": ""}),
    ("epsilon", {**DIRECT, "epsilon": None}), ("epsilon", {**DIRECT, "epsilon": "-1"}),
    ("domain", {**DIRECT, "domain": None}), ("domain", {**DIRECT, "domain": {}}),
    ("domain", {**DIRECT, "domain": {"hash_bits": 32}}),
    ("domain", {**DIRECT, "domain": {"size": 4, "labels": [1, 2]}}),
    ("domain", {**DIRECT, "domain": {"labels": "ab"}}), ("size", {**DIRECT, "domain": {"size": 1}}),
    ("size", {**DIRECT, "domain": {"size": 2.5}}), ("size", {**DIRECT, "domain": {"size": "4"}}),
    ("size", {**DIRECT, "domain": {"size": 2**20 + 1}}), ("size", {**SKETCH, "domain": {"size": 2**31 + 1}}),
    ("labels", {**DIRECT, "domain": {"labels": ["a"]}}), ("labels", {**DIRECT, "domain": {"labels": ["a", "a"]}}),
    ("labels", {**DIRECT, "domain": {"labels": [1, True]}}), ("labels", {**DIRECT, "domain": {"labels": ["a", 1.5]}}),
    ("labels", {**DIRECT, "domain": {"labels": ["a", None]}}),
    ("other", {**DIRECT, "domain": {"size": 4, "other": 4}}),
    ("other", {**DIRECT, "domain": {"size": 4, "other": None}}),
    ("other", {**DIRECT, "domain": {"labels": ["a", "b"], "other": "c"}}),
    ("hash_bits", {**SKETCH, "domain": {"hash_bits": 15}}), ("hash_bits", {**SKETCH, "domain": {"hash_bits": 62}}),
    ("domain", {**SKETCH, "domain": {"hash_bits": 32, "other": "a"}}),
    ("hashes", {**SKETCH, "hashes": 0}), ("hashes", {**SKETCH, "hashes": 2**16 + 1}), ("width", {**SKETCH, "width": 1}),
    ("width", {**SKETCH, "width": 2**16, "hashes": 257}), ("bits", {**RAPPOR, "bits": 4097}),
    ("bits", {**RAPPOR, "bits": "8"}), ("hashes", {**RAPPOR, "hashes": 17}),
    ("hashes", {**RAPPOR, "bits": 257, "hashes": 9}), ("cohorts", {**RAPPOR, "cohorts": 1025}),
    ("f", {**RAPPOR, "f": "1/3"}), ("f", {**RAPPOR, "f": "0"}), ("f", {**RAPPOR, "f": "1"}),
    ("f", {**RAPPOR, "f": 0.5}),
    ("p", {**RAPPOR, "p": "3/4"}), ("p", {**RAPPOR, "q": "5/4"}), ("metric", {**RAPPOR, "metric": 1}),
)  # fmt: skip


def test_what_is_no_protocol_that_python_writes_is_refused_by_name(page):
    body = """
      const said = [];
      for (const [, protocol] of given) {
        const secret = protocol?.kind === "rappor" ? bytes("07".repeat(16)) : undefined;
        said.push(await createClient(protocol, { secret }).then(() => "taken", (error) => error.message));
      }
      return said;"""
    said = run(page, body, WRONG)
    assert [
        (name, one) for (name, _), one in zip(WRONG, said, strict=True) if not one.startswith(f"{name}: must")
    ] == []
    assert [document for _, document in WRONG if is_written_by_python(document)] == list(OF_PYTHON_ALONE)


def is_written_by_python(document):
    """Whether Python takes a document for a protocol, and writes it in the same way."""
    try:
        return protocol_from_json(document).to_json() == document
    except (ParameterError, TypeError):
        return False


# Memory


@pytest.mark.parametrize("secret", ["undefined", "new Uint8Array(15)", "'07'.repeat(16)", "[1, 2, 3]"])
def test_a_memory_needs_a_secret_of_sixteen_bytes(page, secret):
    body = f"return createClient(given, {{ secret: {secret} }}).then(() => 'taken', (error) => error.message);"
    assert run(page, body, RAPPOR).startswith("secret: must be a Uint8Array of 16")


def test_permanent_responses_hold_in_every_tab_and_after_every_reload(context, page):
    """Where reports have no noise of their own, they are the permanent response, the same each time."""
    plain = Rappor(bits=64, hashes=2, cohorts=8, f="1/2", p=0, q=1).to_json()
    body = """
      const secrets = await Promise.all([storedSecret(), storedSecret(), storedSecret()]);
      const client = await createClient(given, { secret: secrets[0] }), other = await storedSecret("another device");
      const reports = await Promise.all(["a", "b", "a", "b"].map(client.report));
      return { secrets: secrets.map(hex), other: hex(other), reports: reports.map(hex) };"""
    first = run(page, body, plain)
    page.reload()
    second = run(page, body, plain)
    another = context.new_page()
    another.goto(f"{SITE}/")
    assert first == second == run(another, body, plain)
    another.close()
    assert len(set(first["secrets"])) == 1
    assert len(first["secrets"][0]) == 64
    assert first["other"] not in first["secrets"]
    a, b, *again = first["reports"]
    assert again == [a, b]
    assert a != b


def test_without_storage_there_is_no_secret(page):
    body = """
      const asked = [];
      for (const fails of ["open", "write"]) {
        if (fails === "write") IDBObjectStore.prototype.add = function () { this.transaction.abort(); };
        else indexedDB.open = () => { throw new DOMException("denied"); };
        asked.push(await storedSecret("nowhere").then(() => "a secret", () => "none"));
        delete indexedDB.open;
      }
      return asked;"""
    assert run(page, body) == ["none", "none"]


# Sending


def answering(page, *answers):
    """The requests that a collection gets, which answers so, one after the other."""
    left, requests = list(answers), []

    def answer(route):
        request = route.request
        requests.append((request.method, request.headers, request.post_data_buffer))
        status, document, headers = (*left.pop(0), {})[:3]
        if status == 0:
            route.abort()
        else:
            route.fulfill(status=status, body=document, headers=headers)

    page.route(f"{SITE}/v1/**", answer)
    return requests


SEND = """
  const pauses = [];
  window.setTimeout = (go, pause) => { pauses.push(pause); queueMicrotask(go); };
  const reports = [Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5, 6)];
  const answer = await send("/v1/collections/drinks/reports", given.key, reports, given.options)
    .catch(({ message, status, batch }) => ({ message, status, batch }));
  return { answer, pauses };"""
COUNTED = '{"accepted": 2, "refused": 0, "repeated": true}'


def test_a_batch_is_sent_again_with_the_same_id_and_bytes_until_it_is_counted(page):
    answers = [(0, ""), (503, "{}", {"Retry-After": "5"}), (502, "<html>"), (200, "<html>"), (200, COUNTED)]
    requests = answering(page, *answers)
    found = run(page, SEND, {"key": "sfk_x"})
    assert found["answer"] == json.loads(COUNTED)
    assert found["pauses"] == [1_000, 5_000, 10_000, 20_000]
    assert {(method, body) for method, _, body in requests} == {("POST", bytes([1, 2, 3, 4, 5, 6]))}
    (batch,) = {headers["idempotency-key"] for _, headers, _ in requests}
    assert len(requests) == 5
    today = datetime.now(UTC).date()
    assert batch[:11] in {f"{today}.", f"{today - timedelta(1)}."}  # it may be midnight
    assert len(batch[11:]) >= 16
    for _, headers, _ in requests:
        assert (headers["authorization"], headers["content-type"]) == ("Bearer sfk_x", "application/octet-stream")
        assert "cookie" not in headers


def test_each_batch_has_an_id_of_its_own_and_a_public_collection_gets_no_key(page):
    requests = answering(page, (200, COUNTED), (200, COUNTED), (200, COUNTED))
    for given in ({"key": ""}, {"key": None}, {"key": "", "options": {"batch": "kept since yesterday"}}):
        run(page, SEND, given)
    first, second, third = (headers for _, headers, _ in requests)
    assert first["idempotency-key"] != second["idempotency-key"]
    assert third["idempotency-key"] == "kept since yesterday"
    assert not any("authorization" in headers for headers in (first, second, third))


@pytest.mark.parametrize(
    ("status", "document", "why"),
    [(409, '{"detail": "the id was used"}', "the id was used"), (200, "{}", "no answer"), (200, "null", "no answer")],
)
def test_a_refusal_is_final_and_says_why(page, status, document, why):
    """What is no count, such as the page of a network that asks for a password, is no success."""
    requests = answering(page, (status, document))
    found = run(page, SEND, {"key": "k"})["answer"]
    assert (len(requests), found["status"]) == (1, status)
    assert found["message"].startswith(f"reports: not sent, {why}")


def test_what_is_never_answered_is_an_error_with_the_id_to_go_on_with(page):
    requests = answering(page, (0, ""), (0, ""))
    found = run(page, SEND, {"key": "k", "options": {"attempts": 2}})["answer"]
    assert len(requests) == 2
    assert found["status"] == 0
    assert found["batch"] == requests[0][1]["idempotency-key"]


def test_what_is_no_list_of_reports_is_not_sent(page):
    body = """
      const wrong = [Uint8Array.of(1), ["AQ=="], "AQ==", [[1, 2]]];
      return Promise.all(wrong.map((one) => send("/v1/x", "", one).then(() => "sent", (error) => error.message)));"""
    assert run(page, body) == ["reports: must be a list of reports"] * 4
