"""A program that answers is a mechanism; one that does not is an error, whatever it does instead, and never a hang."""

import io
import json
import math
import os
import select
import signal
import sys

import numpy as np
import pytest

from sfumato.audit import NeighborPair, audit
from sfumato.audit.reports import commands
from sfumato.audit.reports.commands import Command, serve
from sfumato.errors import ParameterError

ECHO = """
import json
while True:
    asked = json.loads(input())
    print(json.dumps([asked["database"]] * asked["runs"]), flush=True)
"""
WITH_PID = "import os\nwhile True: input(); print([os.getpid()], flush=True)"
LOADED = (
    "import sys; from sfumato.audit.reports.commands import serve; serve(lambda database, runs: [len(database)] * runs)"
)
LONG = "x" * 1_000_000
PAUSE = "import signal; signal.pause()"
ONCE = "import os; input(); print([os.getpid()], flush=True); "


def python(code, **options):
    return Command([sys.executable, "-c", code], **options)


def failure(code, database=(), runs=2, **options):
    """What a call of a program says, which then has ended."""
    with python(code, **options) as program, pytest.raises(ParameterError) as caught:
        program(database, runs)
    with pytest.raises(ParameterError, match="has ended"):
        program(database, runs)
    return str(caught.value)


def ended(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def pid_of(program):
    (pid,) = program("pid", 1)
    return pid


def test_a_program_is_started_once_and_answers_many_requests():
    with python(WITH_PID) as program:
        assert pid_of(program) == pid_of(program) != os.getpid()


def test_integers_of_any_size_infinities_nan_and_any_text_survive():
    database = [2**200, -(2**64), math.inf, -math.inf, -0.0, "é\n\ud800\x00", None, True, {"a": [1]}]
    with python(ECHO) as program:
        first, second = program(database, 2)
        assert [json.dumps(first), json.dumps(second)] == [json.dumps(database)] * 2
        assert [type(part) for part in first] == [type(part) for part in database]
        assert math.isnan(program(math.nan, 1)[0])
        assert program([], 0) == []


def test_a_request_and_an_answer_may_be_larger_than_a_pipe_holds():
    with python(ECHO) as program:
        assert program(LONG, 3) == [LONG] * 3


def test_rows_are_sent_as_json_has_them():
    with python(ECHO) as program:
        assert program(({"age": np.int64(3)}, (1, 2)), 1) == [[{"age": 3}, [1, 2]]]


def test_what_no_json_can_hold_is_refused_before_anything_is_asked():
    endless = []
    endless.append(endless)
    with python(WITH_PID) as program:
        with pytest.raises(ParameterError, match="cannot be sent as JSON"):
            program(endless, 1)
        assert pid_of(program)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit(3)", "ended with exit code 3 before it answered"),
        ("input(); import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
        ("input(); raise SystemExit('no memory left')", "stderr: no memory left"),
        ("import os; os.close(1); input()", "before it answered"),
        ("print('Welcome!', flush=True); input()", "wrote 'Welcome!\\n', which is not JSON"),
        ("input(); print('{\"answer\": 3}', flush=True)", "a JSON list of as many outputs"),
        ("input(); print('[1]', flush=True)", "returned 1 outputs for 2 runs"),
        ("input(); print('[1, 2, 3]', flush=True)", "returned 3 outputs for 2 runs"),
        ("input(); print('[1, 2]\\n[3, 4]', flush=True); input()", "wrote more than one line"),
        ('input(); print(\'{"error": "no such table"}\', flush=True)', "answered with an error: no such table"),
        ("input(); print('[' * 100_000, flush=True)", "which is not JSON"),
        (
            "input(); print('[1, ' + '9' * 5000 + ']', flush=True)",
            "which is not JSON (holds a whole number of more than 4,300 digits",
        ),
        ("import os; input(); os.write(1, b'\\xff\\n')", "which is not JSON"),
    ],
)
def test_a_program_that_answers_badly_is_an_error_that_says_how(code, said):
    assert said in failure(code, timeout=30)


@pytest.mark.parametrize(
    ("code", "database", "said"),
    [
        (f"input(); {PAUSE}", "", "gave no answer within 0.2 seconds"),
        (PAUSE, LONG, "did not read its input within 0.2 seconds"),
        ("import os\nwhile True: os.write(2, b'x' * 1000)", "", "gave no answer within 0.2 seconds"),
        ("import os\nwhile True: os.write(1, b'x' * 1000)", "", "gave no answer within 0.2 seconds"),
    ],
)
def test_a_program_that_never_answers_is_an_error_in_time(code, database, said):
    assert said in failure(code, database, timeout=0.2)


def test_an_answer_that_never_ends_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(commands, "_LONGEST_REPLY", 1000)
    assert "more than 1,000 bytes" in failure("import os\nwhile True: os.write(1, b'x' * 1000)", timeout=30)


def test_an_answer_before_the_question_was_read_is_none():
    said = failure(f"print('[1, 2]', flush=True); {PAUSE}", LONG, timeout=30)
    assert "answered before it read its input" in said or "wrote before a request" in said


def test_text_between_answers_is_not_taken_for_the_next_one():
    told = "import signal\nsignal.signal(signal.SIGUSR1, lambda *_: print('[2]', flush=True))\n"
    with python(f"{told}input(); print('[1]', flush=True)\nwhile True: signal.pause()", timeout=30) as program:
        assert program(0, 1) == [1]
        dialogue = program._dialogue
        dialogue._process.send_signal(signal.SIGUSR1)
        assert select.select([dialogue._output], [], [], 30)[0]
        with pytest.raises(ParameterError, match="wrote before a request"):
            program(0, 1)


def test_a_flood_on_the_error_stream_stops_nothing():
    code = "import sys\nsys.stderr.write('x' * 3_000_000); input(); print('[1, 2]', flush=True); input()"
    with python(code, timeout=60) as program:
        assert program(0, 2) == [1, 2]


@pytest.mark.parametrize("code", [WITH_PID, ONCE + PAUSE])
def test_the_program_has_ended_when_the_context_is_left(code):
    with python(code) as program:
        pid = pid_of(program)
    assert ended(pid)
    with pytest.raises(ParameterError, match="has ended"):
        program(0, 1)


def test_the_program_has_ended_after_an_exception_of_others():
    pids = []

    def interrupted():
        with python(f"{ONCE}{PAUSE}") as program:
            pids.append(pid_of(program))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert ended(*pids)


def test_an_answer_that_was_not_awaited_is_not_taken_for_the_next_one(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with python(WITH_PID) as program:
        pid = pid_of(program)
        with monkeypatch.context() as patched:
            patched.setattr(commands, "_outputs", interrupted)
            with pytest.raises(KeyboardInterrupt):
                program(0, 1)
        assert ended(pid)
        with pytest.raises(ParameterError, match="has ended"):
            program(0, 1)


def test_a_program_that_is_not_there_is_an_error():
    with pytest.raises(ParameterError, match="cannot be started"), Command(["no-such-program-anywhere"]) as program:
        program(0, 1)


@pytest.mark.parametrize("arguments", [[], "cat", ()])
def test_arguments_are_a_list_of_words(arguments):
    with pytest.raises(ParameterError, match="must be a list"):
        Command(arguments)


@pytest.mark.parametrize("timeout", [0, -1, math.nan])
def test_a_timeout_is_above_0(timeout):
    with pytest.raises(ParameterError, match="seconds above 0"):
        Command(["cat"], timeout=timeout)


def replies(mechanism, *lines):
    heard = io.StringIO()
    serve(mechanism, stdin=[line if isinstance(line, str) else json.dumps(line) for line in lines], stdout=heard)
    return [json.loads(line) for line in heard.getvalue().splitlines()]


def test_a_server_answers_each_line_with_a_line():
    asked = [{"database": [1, 2], "runs": 2}, {"database": [], "runs": 0}]
    assert replies(lambda database, runs: [len(database)] * runs, *asked) == [[2, 2], []]


def test_arrays_are_sent_without_their_dtype():
    asked = {"database": 0, "runs": 2}
    assert replies(lambda *_: np.array([1.0, 2.5]), asked) == [[1, 2.5]]
    assert replies(lambda *_: [np.float64(1.0), np.int32(2)], asked) == [[1.0, 2]]


@pytest.mark.parametrize("line", ["", "what?", "[]", '{"runs": 1}', '{"database": 1, "runs": -1}', "[" * 100_000])
def test_a_server_says_what_a_request_is(line):
    (reply,) = replies(lambda *_: [1], line)
    assert set(reply) == {"error"}


def test_a_server_goes_on_after_an_error_and_keeps_what_is_printed_out_of_its_answers(capsys):
    def mechanism(database, runs):
        sys.stdout.write("thinking\n")
        return [1 // database] * runs

    asked = [{"database": number, "runs": 1} for number in (0, 1)]
    assert replies(mechanism, *asked) == [{"error": "ZeroDivisionError: integer division or modulo by zero"}, [1]]
    assert capsys.readouterr().err == "thinking\nthinking\n"


@pytest.mark.parametrize("outputs", ["text", {1: 2}, {1, 2}, 5, None])
def test_a_server_sends_only_what_stands_in_an_order(outputs):
    (reply,) = replies(lambda *_: outputs, {"database": 0, "runs": 1})
    assert "must be a list, tuple or array" in reply["error"]


def test_both_sides_together_are_a_mechanism_of_an_audit():
    with python(LOADED) as program:
        report = audit(program, [NeighborPair([1, 2], [1], "one leaves")], epsilon=1, samples=200)
    assert report.violations


HOLDER = "import subprocess, sys; held = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])"


def test_a_program_that_has_ended_is_not_awaited_while_its_child_holds_the_pipes():
    assert "ended with exit code 3" in failure(f"{HOLDER}; sys.stderr.write(str(held.pid)); sys.exit(3)", timeout=120)


def test_what_a_program_started_is_ended_with_it():
    code = f"{HOLDER}\ninput(); print([held.pid], flush=True); import signal; signal.pause()"
    with python(code, timeout=60) as program:
        child = program(0, 1)[0]
        descriptor = os.pidfd_open(child)
    try:
        assert select.select([descriptor], [], [], 30)[0]
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("timeout", [math.inf, 1e300])
def test_one_may_wait_for_ever(timeout):
    with python(ECHO, timeout=timeout) as program:
        assert program([3], 2) == [[3], [3]]
