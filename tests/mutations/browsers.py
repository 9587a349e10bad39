"""Seeded bugs of the client in browsers, and of what other sites may do at a collector."""

from tests.mutations.mutants import Mutant

SCRIPT = "local/browser/sfumato-local.js"
CLIENT = "tests/local/browser/test_sfumato_local.py::"
BYTES = f"{CLIENT}test_reports_are_those_of_python_of_the_same_bits"
MEMORY = f"{CLIENT}test_permanent_responses_hold_in_every_tab_and_after_every_reload"
AGAIN = f"{CLIENT}test_a_batch_is_sent_again_with_the_same_id_and_bytes_until_it_is_counted"
PAGES = "tests/server/gateway/routes/test_collections.py::"

MUTANTS = (
    Mutant(
        name="a browser draws from an insecure generator",
        edits=(
            (
                SCRIPT,
                "crypto.getRandomValues(bytes.subarray(at, at + 65_536))",
                "bytes.subarray(at, at + 65_536).forEach((_, place) => (bytes[at + place] = 256 * Math.random()))",
            ),
        ),
        tests=(f"{CLIENT}test_randomness_is_that_of_the_browsers_generator_alone",),
    ),
    Mutant(
        name="a browser rounds probabilities to 8 bits",
        edits=(
            (
                SCRIPT,
                "threshold = Number(scaled / bottom), rest = scaled % bottom",
                "threshold = Number(scaled / bottom) & 0xff00, rest = 0n",
            ),
        ),
        tests=(BYTES,),
    ),
    Mutant(
        name="a coin of a browser that ties is never tossed again",
        edits=((SCRIPT, "if (ties.length) coins(", "if (false) coins("),),
        tests=(BYTES,),
    ),
    Mutant(
        name="a browser keeps what favors some numbers",
        edits=((SCRIPT, "isShort ? product % 65_536n >= 65_536n % n :", "isShort ? true :"),),
        tests=(BYTES,),
    ),
    Mutant(
        name="the odds of a browser are floats",
        edits=(
            (
                SCRIPT,
                "return sum >> bits - 64n;",
                "return BigInt(Math.floor(Math.exp(Number(top) / Number(bottom)) * 2 ** 64));",
            ),
        ),
        tests=(BYTES,),
    ),
    Mutant(
        name="a lie of a browser may be the truth",
        edits=((SCRIPT, "told + BigInt(isLie && told >= held)", "told"),),
        tests=(BYTES,),
    ),
    Mutant(
        name="a browser never flips the bit of the true value",
        edits=((SCRIPT, "[bits[place]] = coins(held, 1);", "bits[place] = 1;"),),
        tests=(BYTES,),
    ),
    Mutant(
        name="what is missing in a browser counts as the first value",
        edits=((SCRIPT, "?? named ?? below(size)", "?? named ?? 0n"),),
        tests=(BYTES,),
    ),
    Mutant(
        name="a browser has one permanent response for all values",
        edits=((SCRIPT, "set.reduce((sum, bit) => sum | 1n << BigInt(bit), 0n)", "0n"),),
        tests=(BYTES,),
    ),
    Mutant(
        name="a browser sends its permanent response",
        edits=((SCRIPT, "BigInt((isHeld ? ifSet : ifUnset)[bit])", "BigInt(isHeld)"),),
        tests=(BYTES,),
    ),
    Mutant(
        name="a browser forgets its secret",
        edits=((SCRIPT, "resolve(reading.result ?? fresh)", "resolve(fresh)"),),
        tests=(MEMORY,),
    ),
    Mutant(
        name="a browser gives out a secret that it could not store",
        edits=((SCRIPT, "writing.onabort = () => reject(writing.error)", "writing.onabort = () => resolve(fresh)"),),
        tests=(f"{CLIENT}test_without_storage_there_is_no_secret",),
    ),
    Mutant(
        name="a browser sends a batch again under another id",
        edits=(
            (
                SCRIPT,
                "await fetch(url, { ...request,",
                'await fetch(url, { ...request, headers: { ...headers, "Idempotency-Key": crypto.randomUUID() },',
            ),
        ),
        tests=(AGAIN,),
    ),
    Mutant(
        name="a browser takes any response for a count",
        edits=((SCRIPT, "if (status === 200 && content?.accepted >= 0)", "if (status === 200)"),),
        tests=(f"{CLIENT}test_a_refusal_is_final_and_says_why",),
    ),
    Mutant(
        name="pages of any site may send",
        edits=(("server/gateway/routes/collections.py", "allow_origins=found.origins", 'allow_origins=("*",)'),),
        tests=(f"{PAGES}test_browsers_hear_of_no_other_page_and_no_other_route",),
    ),
    Mutant(
        name="pages of listed sites may use every route",
        edits=(
            (
                "server/gateway/routes/collections.py",
                'self._open.get(scope.get("path", ""), self._app)',
                "next(iter(self._open.values()), self._app)",
            ),
        ),
        tests=(f"{PAGES}test_browsers_hear_of_no_other_page_and_no_other_route",),
    ),
    Mutant(
        name="an origin may be a pattern",
        edits=(("server/config.py", "[a-z0-9.-]+|http", "[a-z0-9.*-]+|http"),),
        tests=("tests/server/test_config.py::test_a_collection_names_the_sites_whose_pages_may_send",),
    ),
)
