"""A mechanism in a process of its own: a program that is started once and answers over its pipes, in lines of JSON.

A request is one line ``{"database": …, "runs": n}``; the answer to it is one line too, a list of exactly n outputs, or
``{"error": "text"}`` if the program cannot run on such a database at all. What an analyst would see as an error of one
run belongs in the list, as text. NaN, Infinity and -Infinity stand for themselves, as Python writes them; integers may
have any size up to 4,300 digits. Whatever a program does instead, it is an error here within the time that was given.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout, suppress
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from signal import SIGKILL
from time import monotonic
from types import TracebackType
from typing import Any, Final, Self, TextIO

from sfumato.audit.core.outputs import as_float, plain
from sfumato.audit.core.roles import AuditedMechanism
from sfumato.audit.reports.documents import encoded, encoded_outputs
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, listed
from sfumato.privacy.formats import parse_json

_CHUNK: Final = 1 << 16
_LONGEST_REPLY: Final = 1 << 30  # bytes; a program that never ends its line must not fill the memory
_GRACE: Final = 1.0  # seconds that a program has to end by itself, once nobody asks any more
_LAST_WORDS: Final = 600
_QUOTED: Final = 80
_MOST_CHUNKS: Final = 1 << 10
_WANTED: Final = 'it must answer each request with one line, a JSON list of as many outputs or {"error": "text"}'


class Command:
    """A program as a mechanism: started when it is first asked, and ended on leaving the context.

    It is run directly, by no shell. It keeps whatever it remembers from one request to the next, as a server does; what
    it writes to its error stream is read and forgotten, except for the last words, which errors quote.

    Args:
        arguments: The program and its arguments.
        timeout: Seconds within which each request must be answered, however many runs it asks for.

    Raises:
        ParameterError: There are no arguments, or the timeout is not above 0. On calls: the program cannot be started,
            ended, was silent for too long, did not read its input, said anything but one line with as many outputs as
            were asked for, or answered with an error; or the database is no JSON.

    Example:
        >>> imported = "from sfumato.audit.reports.commands import serve"
        >>> program = f"{imported}; serve(lambda database, runs: [len(database)] * runs)"
        >>> with Command([sys.executable, "-c", program]) as counted:
        ...     counted(["ann", "bob"], 3)
        [2, 2, 2]
    """

    __slots__ = ("_arguments", "_closed", "_dialogue", "_timeout")

    def __init__(self, arguments: Sequence[str], *, timeout: float = 600.0) -> None:
        self._arguments = tuple(map(str, listed(arguments, "arguments", of="a program and its arguments")))
        if not self._arguments:
            raise ParameterError("arguments", (), "must be a list: a program and its arguments")
        self._timeout = _seconds(timeout)
        self._dialogue: _Dialogue | None = None
        self._closed = False

    def __call__(self, database: Any, count: int, /) -> list[Any]:
        """The outputs of `count` runs, as the program gave them."""
        request = _request(database, count)
        if self._closed:
            raise self._error("has ended; make another Command to start it again")
        if self._dialogue is None:
            self._dialogue = self._started()
        try:
            return _outputs(self._dialogue.answer(request, timeout=self._timeout), count)
        except _MisbehavedError as error:
            heard = self._end(at_once=True)
            raise self._error(f"{error}{f'; stderr: {heard}' if heard else ''}") from None
        except BaseException:  # an answer that nobody awaits any more would be taken for the next one
            self._end(at_once=True)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(at_once=kind is not None)

    def __repr__(self) -> str:
        return f"Command({list(self._arguments)!r})"

    def close(self) -> None:
        """End the program: its input ends, and if it then does not end itself it is killed."""
        self._end(at_once=False)

    def _end(self, *, at_once: bool) -> str:
        self._closed = True
        if self._dialogue is None:
            return ""
        dialogue, self._dialogue = self._dialogue, None
        return dialogue.end(at_once=at_once)

    def _started(self) -> "_Dialogue":
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(  # noqa: S603 # the owner of the audit names the program; there is no shell
                self._arguments, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, process_group=0
            )
        except (OSError, ValueError) as error:  # no such program, not allowed; an argument with a NUL
            self._closed = True
            raise self._error(f"cannot be started: {error}") from None
        return _Dialogue(process)

    def _error(self, requirement: str) -> ParameterError:
        return ParameterError("command", " ".join(self._arguments), requirement)


def _seconds(timeout: Any) -> float:
    seconds = as_float(plain(timeout))  # NaN for what is no number
    if not seconds > 0:
        raise ParameterError("timeout", timeout, "must be a number of seconds above 0")
    return seconds


class _MisbehavedError(Exception):
    """What a program did that it must not do, in words."""


class _Dialogue:
    """A process and its pipes, on none of which this side ever waits longer than it wants to."""

    __slots__ = ("_errors", "_heard", "_input", "_is_line", "_last_words", "_output", "_process", "_unsent")

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise AssertionError("all three are pipes")
        self._process = process
        self._input, self._output, self._errors = process.stdin, process.stdout, process.stderr
        self._unsent, self._heard, self._is_line, self._last_words = memoryview(b""), bytearray(), False, b""
        for pipe in (self._input, self._output, self._errors):
            os.set_blocking(pipe.fileno(), False)

    def answer(self, request: bytes, *, timeout: float) -> bytes:
        """Write a line, read a line; and the error stream meanwhile, as a full pipe would stop the program."""
        deadline = monotonic() + timeout
        self._require_silence()
        self._unsent = memoryview(request)
        with DefaultSelector() as pipes:
            pipes.register(self._input, EVENT_WRITE, self._send)
            pipes.register(self._output, EVENT_READ, self._hear)
            pipes.register(self._errors, EVENT_READ, self._overhear)
            while not self._is_line:
                left = deadline - monotonic()
                if left <= 0:
                    raise _MisbehavedError(self._silence(timeout))
                has_ended = self._process.poll() is not None
                ready = pipes.select(min(left, _GRACE))
                for key, _ in ready:
                    if not key.data():
                        pipes.unregister(key.fileobj)
                if has_ended and not ready:  # a child of it may hold its pipes for ever
                    raise _MisbehavedError(self._end_of_output())
        line, self._heard, self._is_line = bytes(self._heard), bytearray(), False
        if self._unsent:
            raise _MisbehavedError(f"answered before it read its input: {_quoted(line)}; {_WANTED}")
        if line.find(b"\n") < len(line) - 1:
            raise _MisbehavedError(f"wrote more than one line: {_quoted(line)}; {_WANTED}")
        return line

    def end(self, *, at_once: bool) -> str:
        """End the process, or let it end by itself if it does so soon; its last words on the error stream."""
        if at_once:
            self._kill()
        self._input.close()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()
        for _ in range(_MOST_CHUNKS):  # what it had still to say; a child of its own may go on for ever
            if not self._overhear():
                break
        self._output.close()
        self._errors.close()
        return " ".join(self._last_words.decode("utf-8", "replace").split())

    def _kill(self) -> None:
        """With all that it started, while its number is still its own."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, SIGKILL)
            self._process.kill()

    def _send(self) -> bool:
        """Write as much as the pipe takes; whether there is more to write."""
        try:
            self._unsent = self._unsent[self._input.write(self._unsent[:_CHUNK]) or 0 :]
        except BrokenPipeError:  # its answer, or its end, says more
            self._unsent = memoryview(b"")
        return bool(self._unsent)

    def _hear(self) -> bool:
        """Read what there is of the answer; always True, as only its end ends it."""
        heard = self._output.read(_CHUNK)
        if heard == b"":
            raise _MisbehavedError(self._end_of_output())
        self._heard += heard or b""
        self._is_line = self._is_line or b"\n" in (heard or b"")
        if len(self._heard) > _LONGEST_REPLY:
            raise _MisbehavedError(f"returned more than {_LONGEST_REPLY:,} bytes; ask for fewer runs")
        return True

    def _overhear(self) -> bool:
        """Read what there is on the error stream; whether there may be more."""
        said = self._errors.read(_CHUNK)
        self._last_words = (self._last_words + (said or b""))[-_LAST_WORDS:]
        return bool(said)

    def _require_silence(self) -> None:
        """Text between answers would be taken for the next one."""
        self._hear()
        if self._heard:
            raise _MisbehavedError(f"wrote before a request: {_quoted(bytes(self._heard))}; {_WANTED}")

    def _silence(self, timeout: float) -> str:
        if self._unsent:
            return f"did not read its input within {timeout:g} seconds"
        return f"gave no answer within {timeout:g} seconds; increase the timeout if it needs longer"

    def _end_of_output(self) -> str:
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return "closed its output before it answered"
        how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
        return f"ended {how} before it answered"


def _request(database: Any, count: int) -> bytes:
    try:
        return json.dumps({"database": encoded(database), "runs": count}).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError("database", type(database).__name__, f"cannot be sent as JSON: {error}") from None


def _outputs(line: bytes, count: int) -> list[Any]:
    """The outputs in an answer."""
    try:
        answer = parse_json(line)
    except ValueError as error:  # no JSON, or no UTF-8
        raise _MisbehavedError(f"wrote {_quoted(line)}, which is not JSON ({error}); {_WANTED}") from None
    match answer:
        case {"error": text}:
            raise _MisbehavedError(f"answered with an error: {str(text)[:_LAST_WORDS]}")
        case list() if len(answer) == count:
            return answer
        case list():
            raise _MisbehavedError(f"returned {len(answer):,} outputs for {count:,} runs")
        case _:
            raise _MisbehavedError(f"wrote {_quoted(line)}; {_WANTED}")


def _quoted(line: bytes) -> str:
    """The beginning of what was said, as code."""
    return repr(line[:_QUOTED].decode("utf-8", "replace"))


def serve(mechanism: AuditedMechanism, *, stdin: Iterable[str] | None = None, stdout: TextIO | None = None) -> None:
    r"""Be the program that a `Command` starts: answer each line of input with a line of outputs, until the input ends.

    What the mechanism prints goes to the error stream, and an exception of it becomes ``{"error": …}``; `one_by_one`
    makes errors of single runs into outputs. Outputs that JSON has no word for are sent as in
    `sfumato.audit.reports.documents.encoded`.

    Args:
        mechanism: Called for each request.
        stdin: Lines of requests; None reads the stdin of this process.
        stdout: A file for the answers; None is the stdout of this process.

    Raises:
        ParameterError: A parameter is something else.

    Example:
        >>> serve(lambda database, runs: [sum(database)] * runs, stdin=['{"database": [3, 4], "runs": 2}\n'])
        [7, 7]
    """
    called(mechanism, "mechanism", "a function of a database and a count, such as one_by_one makes")
    if isinstance(stdin, str | bytes) or not isinstance(stdin, Iterable | None):
        raise ParameterError("stdin", stdin, "must be lines of text, or None for the input of this process")
    if stdout is not None and not all(callable(getattr(stdout, name, None)) for name in ("write", "flush")):
        raise ParameterError("stdout", stdout, "must be a file of text, or None for the output of this process")
    answers = sys.stdout if stdout is None else stdout
    for line in sys.stdin if stdin is None else stdin:
        with redirect_stdout(sys.stderr):
            answer = _answer(mechanism, line)
        answers.write(f"{answer}\n")
        answers.flush()


def _answer(mechanism: AuditedMechanism, line: str) -> str:
    try:
        match parse_json(line):
            case {"database": database, "runs": int(runs)} if runs >= 0 and not isinstance(runs, bool):
                return json.dumps(encoded_outputs(mechanism(database, runs)))
            case _:
                return json.dumps({"error": 'a request is one line: {"database": …, "runs": n}'})
    except Exception as error:  # noqa: BLE001 # a mechanism may raise anything, and the other side must hear of it
        return json.dumps({"error": f"{type(error).__name__}: {error}"})
