"""An analyst at work for a while: new queries, old ones again, estimates and batches, in an order drawn from a seed."""

import time
from collections import Counter

import numpy as np
from tests.attacks_on_servers.racing import EPSILON, PAUSE, question

FREE = {429, 503}
"""What a server says that has too much to do: it costs nothing, and says when to come again."""

KINDS = ("fresh", "repeated", "estimate", "batch")
LEAST = 12
"""How often everybody asks, however slow the machine is."""

SHARES = (0.4, 0.4, 0.1, 0.1)


def work(tokens, seconds, asker, thread):
    """Ask for so long, and a few times at least; gives receipts, how often what was done, and what went wrong.

    Args:
        tokens: The keys, by account; there are more threads than these, which do nothing.
        seconds: For how long.
        asker: Asks.
        thread: The number of this thread.
    """
    if thread >= len(tokens):
        return [], Counter(), []
    account, token = list(tokens.items())[thread]
    random, end = np.random.default_rng(thread), time.monotonic() + seconds
    receipts, done, wrong, known, number = [], Counter(), [], [], 1_000_000 * thread
    while time.monotonic() < end or done.total() < LEAST:
        kind = str(random.choice(KINDS, p=SHARES)) if known else "fresh"
        number += 2
        body, before = asked(kind, number), None
        if kind == "repeated":
            body, before = known[random.integers(len(known))]
        response = asker.post(token, body, path="estimate" if kind == "estimate" else "ask")
        if response.status_code in FREE:
            done[response.status_code] += 1
            assert float(response.headers["Retry-After"]) > 0
            time.sleep(PAUSE)
            continue
        done[kind] += 1
        is_new = kind in {"fresh", "batch"}
        if response.status_code != 200:
            wrong.append(f"{kind}: {response.status_code} {response.text[:300]}")
        elif kind == "repeated" and (response.content, response.headers["Sfumato-Reused"]) != (before, "true"):
            wrong.append("what was asked again was another answer")
        elif is_new and response.headers["Sfumato-Reused"] != "false":
            wrong.append("what nobody had asked was not charged")
        elif is_new:
            known.append((body, response.content))
            receipts.append((account, response.json()["releases"][0]["receipt"]))
    return receipts, done, wrong


def asked(kind, number):
    """A query that nobody has asked, or two of them together for the same charge."""
    if kind != "batch":
        return question(number)
    return {"queries": [{"sql": question(number + place)["sql"]} for place in range(2)], "epsilon": str(EPSILON)}
