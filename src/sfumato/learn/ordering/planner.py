"""The process in which a gateway has fits planned: it reads orders, one a line, and writes what is planned of each.

It has neither data nor a ledger nor a key, and takes no more memory and time than it is given. So what an analyst sends
is read where it can do no harm, and a gateway loads none of what models need.
"""

import json
import resource
import sys
from typing import Final, TextIO

from sfumato.errors import ParameterError, SfumatoError
from sfumato.learn.ordering.planning import planned_fit
from sfumato.session.training.ordered import FitOrder
from sfumato.session.wire.fits import decode_rows, encode_fit

MEMORY: Final = 1 << 30
"""How many bytes a plan may take."""


def answer_to(line: str) -> str:
    """What is planned of an order, or why nothing is, as a line of JSON."""
    try:
        estimator, arguments, rows = json.loads(line)
        fit = planned_fit(FitOrder(estimator=estimator, arguments=arguments), decode_rows(rows))
        return json.dumps({"fit": encode_fit(fit)})
    except ParameterError as error:
        return json.dumps({"name": error.name, "value": str(error.value), "requirement": error.requirement})
    except (SfumatoError, MemoryError) as error:
        requirement = "cannot be planned" if isinstance(error, MemoryError) else str(error)
        return json.dumps({"name": "arguments", "value": "…", "requirement": requirement})


def main(asked: TextIO, answers: TextIO) -> None:
    """Say that it is ready, and answer one line after the other, until there are no more."""
    answers.write("{}\n")
    answers.flush()
    for line in asked:
        answers.write(f"{answer_to(line)}\n")
        answers.flush()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    main(sys.stdin, sys.stdout)
