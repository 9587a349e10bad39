"""Pages about questions show what really runs, what is really answered, and what is really refused."""

import re
from itertools import pairwise

import pytest
from tests.meta.repository import ROOT

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.query.model.expressions import Call, children
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Select
from sfumato.query.printing.canonical import question_hash, question_text

QUESTIONS, SQL, QUERIES, POLICY = (
    (ROOT / "docs" / page).read_text("utf-8")
    for page in ("how-to/questions.md", "reference/sql.md", "explanation/queries.md", "how-to/policy.md")
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
MARK = " ≲ noise"  # behind an answer whose bounds were chosen far too wide, as they may be once in twenty times
RELEASES = re.compile(r"release\(|\.sql\(|answer|db\.spent")  # with noise, or what depends on it
PAIR = re.compile(r"^\| `(SELECT .*?|WITH .*?)` \| `(.*)` \|$", re.MULTILINE)
STATISTIC = re.compile(r"^\| `(.*)` \| `(sf\..*)` \|$", re.MULTILINE)
EXAMPLE = re.compile(r"`([^`]+)` is `([^`]+)`")
REFUSAL = re.compile(r"^\| `((?:SELECT|WITH|DELETE) .*?)` \| (.*?) \| (.*?) \|$", re.MULTILINE)


def blocks(page):
    """Each piece of code with what the page shows behind it, if it shows anything."""
    for block, after in pairwise([*FENCE.finditer(page), None]):
        shown = after is not None and after[1] == "" and not page[block.end() : after.start()].strip()
        yield block[1], block[2], after[2] if shown else ""


def masked(text):
    """The text without the numbers that noise moves, the marks of those that it drowns, and the room that they take."""
    return re.sub(r"[ ─≈]+", " ", NUMBER.sub("#", text.replace(MARK, ""))).strip()


def plain(text):
    """The text as a page can hold it, without spaces at the ends of lines."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def unescaped(cell):
    return cell.replace(r"\|", "|")


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    """The names of the page of questions, in the folder that its last block fills."""
    folder = tmp_path_factory.mktemp("hospital")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (policy,) = (code for language, code, _ in blocks(QUESTIONS) if language == "toml")
        (folder / "hospital.toml").write_text(policy, "utf-8")
        *_, data = (code for language, code, _ in blocks(QUESTIONS) if language == "python")
        run(data, {})
        names = {}
        run(next(code for language, code, _ in blocks(QUESTIONS) if language == "python"), names)
        yield names
        names["db"].close()


def run(code, names):
    exec(compile(code, "page.md", "exec"), names)  # noqa: S102 # the page's own code


def test_the_code_of_the_page_of_questions_prints_what_it_shows(hospital, capsys):
    _, *codes, _ = (block for block in blocks(QUESTIONS) if block[0] == "python")
    for _, code, shown in codes:
        if "# raises " in code:
            with pytest.raises(getattr(sf.errors, code.split("# raises ")[1].split()[0])):
                run(code, hospital)
        else:
            run(code, hospital)
            printed = capsys.readouterr().out
            assert masked(shown) == masked(printed)
            assert RELEASES.search(code) or plain(shown) == plain(printed)


def test_bounds_that_one_in_twenty_chooses_too_wide_are_shown_alike():
    """Cells of a histogram without rows, the widest there are among them, are chosen so often."""
    usual = "s = 3 ± 4\nbounds of b: 40.96 to 1310.72, chosen"
    assert masked("s = -1.2e+09 ± 1,234 ≲ noise\nbounds of b: -2.5 to 2.74878e+08, chosen") == masked(usual)


@pytest.mark.parametrize(("sql", "python"), PAIR.findall(QUESTIONS))
def test_what_stands_side_by_side_is_one_question(sql, python, hospital):
    asked = hospital["db"].query(unescaped(sql)), eval(unescaped(python), hospital)  # noqa: S307 # the page's own code
    first, second = (question_hash(question_text(question.relation.child)) for question in asked)
    assert first == second


@pytest.mark.parametrize(("sql", "python"), STATISTIC.findall(QUESTIONS))
def test_statistics_side_by_side_are_one_statistic(sql, python, hospital):
    asked = hospital["db"].query(f"SELECT {sql} AS x FROM visits"), eval(f"visits.agg(x={python})", hospital)  # noqa: S307 # the page's own code
    first, second = (question_hash(question_text(question.relation.child)) for question in asked)
    assert first == second


def test_there_is_something_side_by_side():
    assert len(PAIR.findall(QUESTIONS)) > 20
    assert len(STATISTIC.findall(QUESTIONS)) > 15


@pytest.fixture(scope="module", params=["duckdb", "reference"])
def nobody(request):
    """One public row, of which everything is exact."""
    table = sf.Table(name="one", columns={"code": sf.text()}, unit=sf.PUBLIC)
    source = sf.SourceFacts(source=sf.datasets.votes().select([0]).slice(0, 1).rename_columns(["code"]))
    policy = sf.Policy(
        dataset="one", version="1", data_version="1", unit_name="row", tables={"one": table}, sources={"one": source}
    )
    with sf.Session(policy, budget=sf.PureDP(1), engine=request.param) as db:
        yield db


def is_value(expression, value):
    return f"({expression}) IS NULL" if value == "NULL" else f"({expression}) = ({value})"


@pytest.mark.parametrize(("expression", "value"), EXAMPLE.findall(SQL))
def test_an_example_of_a_function_is_what_it_says(expression, value, nobody):
    asked = f"SELECT {is_value(expression, value)} AS same FROM one GROUP BY 1 HAVING COUNT(*) > 0"
    assert nobody.sql(asked, epsilon=1).groups == ((True,),)


def functions_of(expression):
    own = {expression.function} if isinstance(expression, Call) else set()
    return own.union(*map(functions_of, children(expression)))


def test_every_function_has_an_example(nobody):
    found = set()
    for expression, value in EXAMPLE.findall(SQL):
        question = nobody.query(f"SELECT {is_value(expression, value)} AS same, COUNT(*) FROM one GROUP BY 1")
        rows = question.relation.child.child.child
        assert isinstance(rows, Select)
        found |= set().union(*(functions_of(made) for _, made in rows.columns))
    assert found == set(Function)


@pytest.mark.parametrize(("sql", "reason", "instead"), REFUSAL.findall(SQL))
def test_what_is_refused_is_refused_for_that_reason(sql, reason, instead, hospital):
    with pytest.raises(SfumatoError) as caught:
        hospital["db"].query(unescaped(sql)).cost(epsilon=1)
    assert reason in str(caught.value)
    assert instead in str(caught.value)


def test_many_things_are_refused():
    assert len(REFUSAL.findall(SQL)) > 35


def test_the_code_of_the_explanation_prints_what_it_shows(capsys):
    names = {}
    for language, code, shown in blocks(QUERIES):
        if language == "python":
            run(code, names)
            assert plain(shown) == plain(capsys.readouterr().out)


def test_a_policy_in_python_is_one_that_a_question_can_be_put_to(capsys):
    ((code, shown),) = ((code, shown) for _, code, shown in blocks(POLICY) if "sf.Policy(" in code)
    run(code, {})
    assert plain(shown) == plain(capsys.readouterr().out)
