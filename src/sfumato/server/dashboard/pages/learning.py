"""The page to learn on: the words, and a playground whose rows are made up."""

from typing import Final

from fastapi import APIRouter, Response

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.numeric.rationals import exact
from sfumato.server.dashboard.visits import Here, Page, whole

router = APIRouter(route_class=Page, include_in_schema=False)

STEPS: Final = ("0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5")
"""The ε of each place of the playground's slider."""

_FIRST_STEP: Final = 3
_WITH: Final = 120
"""How many of the made-up patients have the illness."""

_TIMES: Final = 20
_REACH: Final = 100
WORDS: Final = (
    "epsilon", "delta", "unit", "budget", "account", "release", "noise", "interval", "bounds", "public_keys",
    "private_keys", "dry_run", "stored_answer", "receipt", "suspended", "label",
)  # fmt: skip
"""The words of the glossary, in its order."""


@router.get("/learn")
def learn(visit: Here) -> Response:
    """How to read budgets and errors, the playground, and the glossary."""
    return visit.page("learn.html", words=WORDS, step=_FIRST_STEP, steps=STEPS, game=_game(_FIRST_STEP))


@router.post("/learn")
def play(visit: Here) -> Response:
    """The playground at another ε: the same query, asked again and again."""
    step = whole(visit.form.get("step", ""), len(STEPS) - 1)
    if step is None:
        raise ParameterError("step", visit.form.get("step", "")[:20], f"must be 0 to {len(STEPS) - 1}")
    game = _game(step)
    if visit.is_partial:
        return visit.page("parts/game.html", game=game)
    return visit.page("learn.html", words=WORDS, step=step, steps=STEPS, game=game)


def _game(step: int) -> dict[str, object]:
    """Noisy answers to one count of made-up rows, which no budget is charged for."""
    mechanism = Laplace(l1_sensitivity=1, epsilon=exact(STEPS[step], "epsilon"))
    answers = [int(mechanism.release(_WITH)) for _ in range(_TIMES)]
    error = int(mechanism.accuracy())
    return {
        "epsilon": STEPS[step], "answers": answers, "error": error, "exact": _WITH, "is_noise": error > _WITH,
        "chart": {
            "kind": "dots", "points": answers, "exact": _WITH, "low": min(_WITH - _REACH, *answers),
            "high": max(_WITH + _REACH, *answers),
        },
    }  # fmt: skip
