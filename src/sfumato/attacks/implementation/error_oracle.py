"""Errors as answers: a question that can only be computed where somebody is not there says so by failing.

An exception is no number, so no noise is added to it. A cast that fails on one person's value, a product that
overflows, a division by that person's zero: whoever sees the error, its text or a refund for it knows that the row was
there.
"""

from typing import Any

from sfumato.attacks.core.coin_game import REFUSALS, Answer, Game, Worlds, play
from sfumato.numeric.rationals import Number


def error_oracle(
    worlds: Worlds,
    *,
    question: Any,
    trials: int = 1_000,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> Game:
    """Tell whether somebody is in the database by whether a question about them fails.

    Where every expression is total, as a cast that gives NULL and a division that is guarded, it fails in both worlds
    or in neither, and the guess is as good as blind.

    Args:
        worlds: Databases that differ in one person, see `coin_game`. What answers may raise anything.
        question: Which fails only where that person is.
        trials: How many databases, from 1 to ten million.
        epsilon: Of the answer, if a guarantee is claimed.
        delta: Of the same.

    Raises:
        ParameterError: As `coin_game.play`.

    Example:
        >>> people = lambda there: [34, 51] + ["unknown"] * there
        >>> raw = lambda coins: [lambda question, coin=coin: sum(map(question, people(coin))) for coin in coins]
        >>> error_oracle(raw, question=int, trials=100).rates.advantage
        1.0

    References:
        [HPN11] for what a curator tells besides its answers.
    """

    def fails(answer: Answer) -> float:
        try:
            answer(question)
        except REFUSALS:
            raise
        except Exception:  # noqa: BLE001 # whatever an engine raises is what the adversary looks at
            return 1.0
        return 0.0

    return play(worlds, fails, trials=trials, epsilon=epsilon, delta=delta, attack="error oracle")
