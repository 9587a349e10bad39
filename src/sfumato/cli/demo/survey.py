"""Randomized response: everyone adds the noise at home, and no curator is needed."""

from collections.abc import Sequence
from typing import Final

from sfumato.cli.demo.stage import Stage
from sfumato.datasets import survey
from sfumato.mechanisms import RandomizedResponse

COINS: Final = {"fair": "0.5", "heads 80%": "0.8"}


def show(stage: Stage) -> None:
    """A survey of a hundred made-up people with each coin."""
    truths = survey()["smoked_marijuana"].to_pylist()
    stage.section("5. Randomized response: a survey in which no answer convicts")
    stage.say(
        f'{len(truths)} made-up people, of whom {sum(truths)} would say "yes". Each tosses a coin: on heads the truth, '
        'on tails another toss decides, heads for "yes". No curator and no account: everybody adds their own noise.'
    )
    rows = [_row(name, RandomizedResponse(heads_probability=heads), truths) for name, heads in COINS.items()]
    stage.figures(("coin", "ε of one answer", "true yes", "estimated yes (95% interval)"), rows)


def _row(name: str, coin: RandomizedResponse, truths: Sequence[bool]) -> tuple[str, ...]:
    estimate = coin.estimate(coin.release(truths))
    return (
        name,
        f"ln {coin.exp_epsilon} = {float(coin.epsilon):.4f}",
        f"{sum(truths) / len(truths):.0%}",
        f"{estimate.fraction:.0%} ({estimate.low:.0%} to {estimate.high:.0%})",
    )
