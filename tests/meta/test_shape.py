"""Small files and small functions, so that a reader holds each in mind."""

import ast

import pytest
from tests.meta.repository import modules, name, tree

MAX_LINES_OF_A_FILE = 500
MAX_LINES_OF_A_BODY = 50


def body_lines(function):
    """From the first statement after the docstring to the last line."""
    statements = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return function.end_lineno - statements[0].lineno + 1 if statements else 0


def long_functions(module):
    return [
        f"{node.name}: {body_lines(node)} lines"
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and body_lines(node) > MAX_LINES_OF_A_BODY
    ]


@pytest.mark.parametrize("path", modules(), ids=name)
def test_a_file_is_not_too_long(path):
    assert len(path.read_text("utf-8").splitlines()) <= MAX_LINES_OF_A_FILE


@pytest.mark.parametrize("path", modules(), ids=name)
def test_no_function_body_is_too_long(path):
    assert long_functions(tree(path)) == []


@pytest.mark.parametrize(("lines", "found"), [(50, []), (51, ["f: 51 lines"])])
def test_a_body_is_counted_without_its_docstring(lines, found):
    source = "def f():\n    '''What it does.'''\n" + "    x = 1\n" * lines
    assert long_functions(ast.parse(source)) == found
