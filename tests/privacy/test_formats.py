"""What is read of JSON and TOML does not depend on the limits of the Python that reads it."""

import gc
import json
import sys
import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.privacy.formats import MAX_DIGITS, MAX_NESTING, parse_json, parse_toml, uncollected

TEXTS = st.text("\"\\[]{}#'=a\n,:")
LEAVES = st.none() | st.integers() | TEXTS
DOCUMENTS = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=8)


@pytest.fixture
def unlimited_python():
    """A Python that someone allowed calls and digits without end."""
    digits, calls = sys.get_int_max_str_digits(), sys.getrecursionlimit()
    sys.set_int_max_str_digits(0)
    sys.setrecursionlimit(100_000)
    yield
    sys.set_int_max_str_digits(digits)
    sys.setrecursionlimit(calls)


def test_garbage_is_collected_again_whatever_happened_meanwhile():
    def fail():
        with uncollected(), uncollected():
            raise RuntimeError(gc.isenabled())

    with pytest.raises(RuntimeError, match="False"):
        fail()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="Expecting value"):
        parse_json("[1, ")
    assert gc.isenabled()


def test_a_collector_that_was_stopped_stays_so():
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_of_two_that_leave_in_any_order_one_puts_the_collector_back_to_work():
    for first, second in ((0, 1), (1, 0)):
        stages = [uncollected(), uncollected()]
        for stage in stages:
            stage.__enter__()
        stages[first].__exit__(None, None, None)
        stages[second].__exit__(None, None, None)
        assert gc.isenabled()


@given(DOCUMENTS)
def test_json_is_read_as_ever(document):
    assert parse_json(json.dumps(document)) == document
    assert parse_json(json.dumps(document, ensure_ascii=False).encode()) == document


@pytest.mark.parametrize("text", ["[", "{", '"[', '\\"[', "\\", "'["])
def test_marks_in_text_are_no_nesting(text):
    texts = [text] * 1_000
    assert parse_json(json.dumps(texts)) == texts
    assert parse_toml(f"a = {json.dumps(texts)}") == {"a": texts}
    assert parse_toml(f'a = """{json.dumps(text)[1:-1] * 1_000}"""') == {"a": text * 1_000}


@pytest.mark.usefixtures("unlimited_python")
@pytest.mark.parametrize("start", ["[", '{"a":', '["a[{",'])
def test_json_is_nested_as_deeply_as_is_stated_and_no_deeper(start):
    end = "]" if start[0] == "[" else "}"
    parse_json(start * (MAX_NESTING - 1) + "[]" + end * (MAX_NESTING - 1))
    for text in (start * MAX_NESTING + "[]" + end * MAX_NESTING, start * 100_000):
        with pytest.raises(ValueError, match="nested more than 250 deep"):
            parse_json(text)


@pytest.mark.parametrize("row", ["[]", "[1],[2]", '["]"],["[",2]', '["a"],{"b":[1]}', "[1],[[2]]", '[1],["\\"["]'])
def test_rows_of_short_lists_are_as_deep_as_their_lists(row):
    deep = 1 + ("{" in row or "[[" in row)
    for depth in (MAX_NESTING - deep, MAX_NESTING - deep + 1):
        text = "[" * depth + row + "]" * depth
        if depth + deep <= MAX_NESTING:
            assert json.dumps(parse_json(text), separators=(",", ":")) == text
        else:
            with pytest.raises(ValueError, match="nested more than 250 deep"):
                parse_json(text)


@pytest.mark.usefixtures("unlimited_python")
def test_a_whole_number_has_as_many_digits_as_is_stated_and_no_more():
    most = "9" * MAX_DIGITS
    assert parse_json(f"[-{most}]") == [-int(most)]
    assert parse_toml(f"a = -{most}") == {"a": -int(most)}
    assert parse_json(f'["{most}9", 1]') == [most + "9", 1]
    assert parse_toml(f"a = '{most}9' # {most}9") == {"a": most + "9"}
    for read, text in ((parse_json, f"-{most}9"), (parse_toml, f"a = {most}9"), (parse_toml, f"a = {most}_9")):
        with pytest.raises(ValueError, match=f"more than {MAX_DIGITS:,} digits"):
            read(text)


def test_a_number_is_read_by_what_the_caller_states_if_that_has_room():
    assert parse_json("1e999999999", parse_float=Decimal) == Decimal("1e999999999")
    with pytest.raises(ValueError, match="exponent that is too large"):
        parse_json("1e9999999999999999999", parse_float=Decimal)


@pytest.mark.parametrize("text", ["", "{", "[1,]", '"', b"\xff"])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match=r".+"):
        parse_json(text)


@pytest.mark.usefixtures("unlimited_python")
@pytest.mark.parametrize("start", ["[", "{a=", "[\n#]\n", '["]",', "[']',", '["""\\"]""",', "['''']''',"])
def test_toml_is_nested_as_deeply_as_is_stated_and_no_deeper(start):
    end = "]" if start[0] == "[" else "}"
    parse_toml("a = " + start * (MAX_NESTING - 1) + "[]" + end * (MAX_NESTING - 1))
    for text in (start * MAX_NESTING + "[]" + end * MAX_NESTING, start * 20_000):
        with pytest.raises(ValueError, match="nested more than 250 deep"):
            parse_toml(f"a = {text}")


def test_a_key_of_as_many_parts_is_nested_as_deeply():
    assert str(parse_toml("a" + ".a" * (MAX_NESTING - 1) + " = 1")).count("{") == MAX_NESTING
    for key in (".a", " . 'a'"):
        with pytest.raises(ValueError, match="nested more than 250 deep"):
            parse_toml("a" + key * 100_000 + " = 1")


def test_toml_is_read_as_ever():
    text = "a = \"]\\\"]\" # ]]\nb = ''']\n]'''\n[c]\nd = [[1.5], [2.5]]\ne = {f = '{'}\n"
    assert parse_toml(text) == {"a": ']"]', "b": "]\n]", "c": {"d": [[1.5], [2.5]], "e": {"f": "{"}}}


@pytest.mark.parametrize("text", ["a = '", "a", "= 1", "[a", 'a = """', "a = 1\na = 2"])
def test_what_is_no_toml_is_refused(text):
    with pytest.raises(ValueError, match=r".+"):
        parse_toml(text)


@pytest.mark.parametrize("part", ['"', '\\"', "1" * MAX_DIGITS + " ", "'''", '"""', "a.", "a-", "[]"])
def test_no_text_takes_long_to_refuse(part):
    text = (part * 200_000)[:200_000]
    started = time.process_time()
    for read in (parse_json, parse_toml):
        with pytest.raises(ValueError, match=r".+"):
            read(text)
    assert time.process_time() - started < 5
