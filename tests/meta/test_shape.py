"""Files, functions and folders that a reader holds in mind."""

import ast
from collections import Counter

from tests.meta.repository import modules, nodes, offenders, text

MAX_LINES_OF_A_FILE = 500
MAX_LINES_OF_A_BODY = 50
MAX_FILES_OF_A_FOLDER = 15


def long_file(content):
    lines = len(content.splitlines())
    return [f"{lines} lines"] if lines > MAX_LINES_OF_A_FILE else []


def body_lines(function):
    """From the first statement after the docstring to the last line."""
    statements = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return function.end_lineno - statements[0].lineno + 1 if statements else 0


def long_functions(found):
    return [
        f"{node.name}: {body_lines(node)} lines"
        for node in found
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and body_lines(node) > MAX_LINES_OF_A_BODY
    ]


def test_no_file_is_too_long():
    assert offenders((path, long_file(text(path))) for path in modules()) == []


def test_no_folder_has_too_many_files():
    files = Counter(path.parent for path in modules() if path.stem != "__init__")
    assert {folder: count for folder, count in files.items() if count > MAX_FILES_OF_A_FOLDER} == {}


def test_no_function_body_is_too_long():
    assert offenders((path, long_functions(nodes(path))) for path in modules()) == []


def test_a_long_file_is_seen():
    assert long_file("x = 1\n" * 500) == []
    assert long_file("x = 1\n" * 501) == ["501 lines"]


def test_a_body_is_counted_without_its_docstring():
    of_fifty = "def f():\n    '''What it does.'''\n" + "    x = 1\n" * 50
    assert long_functions(ast.walk(ast.parse(of_fifty))) == []
    assert long_functions(ast.walk(ast.parse(of_fifty + "    x = 1\n"))) == ["f: 51 lines"]
