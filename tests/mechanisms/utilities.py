"""Questions that a choice among three candidates may be asked, and between which databases it must hold."""

from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE


def votes(rows):
    return [sum(row == candidate for row in rows) for candidate in range(3)]


def ballots_of_any_size(rows):
    """Every row is a set of candidates: one person may move all counts."""
    return [sum(candidate in row for row in rows) for candidate in range(3)]


def medians(rows):
    """The utility of a price: minus the distance of the rows below and above it; it may rise or fall."""
    return [-abs(sum(row < price for row in rows) - sum(row > price for row in rows)) for price in range(3)]


QUESTIONS = [
    (votes, [0, 1, 2], ADD_OR_REMOVE_ONE, False),
    (votes, [0, 1, 2], REPLACE_ONE, False),
    (votes, [0, 1, 2], ADD_OR_REMOVE_ONE, True),
    (ballots_of_any_size, [(), (0,), (1, 2), (0, 1, 2)], ADD_OR_REMOVE_ONE, True),
    (ballots_of_any_size, [(), (0,), (1, 2), (0, 1, 2)], REPLACE_ONE, False),
    (medians, [0, 1, 2], ADD_OR_REMOVE_ONE, False),
]
"""Utilities, rows, relation, and whether one unit moves all utilities in the same direction."""
