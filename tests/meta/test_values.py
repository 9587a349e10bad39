"""Values do not change after they are made: every dataclass is frozen and has slots, except those listed here."""

import ast

from tests.meta.repository import modules, nodes, offenders

KEEPS_COUNT = {
    "Activity", "AccountState", "Doing", "Errand", "PartitionSpending", "PartitionedSpending", "Paths", "PendingBatch",
    "Supply", "WriteRequest", "_Factors", "_Kept",
}  # fmt: skip
"""What a ledger, a supply of random bits or a convolution counts or stores in as it goes."""
CACHES = {"LossProfile", "NoisyMap"}
"""A `cached_property` is stored where slots have no place."""


def flags(decorator):
    """The keywords of `@dataclass(...)` that are set, or nothing of another decorator."""
    match decorator:
        case ast.Name("dataclass"):
            return set()
        case ast.Call(ast.Name("dataclass"), _, keywords):
            return {keyword.arg for keyword in keywords if ast.literal_eval(keyword.value)}
    return None


def loose(found):
    """Dataclasses that lack `frozen` or `slots` and are not listed, each with what it lacks."""
    for node in found:
        if isinstance(node, ast.ClassDef):
            for decorator in node.decorator_list:
                if (have := flags(decorator)) is not None:
                    allowed = {"frozen"} if node.name in KEEPS_COUNT else {"slots"} if node.name in CACHES else set()
                    yield from (f"{node.name}: {lacks}" for lacks in sorted({"frozen", "slots"} - have - allowed))


def test_every_dataclass_is_frozen_and_has_slots():
    assert offenders((path, loose(nodes(path))) for path in modules()) == []


def test_what_is_listed_exists():
    classes = {node.name for path in modules() for node in nodes(path) if isinstance(node, ast.ClassDef)}
    assert classes >= KEEPS_COUNT | CACHES


def test_a_dataclass_that_may_change_is_seen():
    written = "@dataclass(frozen=False, slots=True)\nclass A: ...\n@dataclass\nclass B: ..."
    assert list(loose(ast.walk(ast.parse(written)))) == ["A: frozen", "B: frozen", "B: slots"]
