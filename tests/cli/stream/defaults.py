"""Options of `sfumato stream` as they are if nothing is stated."""

from sfumato.cli.stream.options import StreamOptions

DEFAULTS = {
    "every": "day", "horizon": 9, "epsilon": "1", "rho": None, "delta": None, "mechanism": None, "time": None,
    "key": None, "value": None, "unit": None, "participations": None, "separation": 1, "id": None, "lateness": 0.0,
    "start": None, "zone": "UTC", "replay": False, "state": None, "ledger": None, "name": "stream", "budget": None,
    "budget_rho": None, "budget_delta": None,
}  # fmt: skip


def options(**given):
    return StreamOptions(**DEFAULTS | given)
