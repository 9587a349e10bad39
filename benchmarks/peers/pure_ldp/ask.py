"""Users a second of pure-ldp's clients and servers, and its mean squared error, as JSON; run in its own environment.

xxhash 4 breaks its local hashing, and statsmodels and scikit-learn are needed but not declared: all three are pinned.
"""

import json
import sys
import time

import numpy as np
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

EPSILON, SIZE = 1, 1024


def measured(client, server, held):
    start = time.process_time()
    reports = [client.privatise(int(value)) for value in held]
    encoded = time.process_time()
    server.aggregate_all(reports)
    estimates = server.estimate_all(range(1, SIZE + 1), suppress_warnings=True)
    counted = time.process_time()
    truth = np.bincount(held - 1, minlength=SIZE) / len(held)
    error = float(((np.asarray(estimates) / len(held) - truth) ** 2).mean())
    return {"encode": len(held) / (encoded - start), "aggregate": len(held) / (counted - encoded), "mse": error}


def main():
    users = int(sys.argv[1])
    held = np.minimum(np.random.default_rng(1).zipf(1.1, users), SIZE)
    hadamard = HadamardResponseServer(EPSILON, SIZE)
    pairs = {
        "OUE": (UEClient(EPSILON, SIZE, use_oue=True), UEServer(EPSILON, SIZE, use_oue=True), held),
        "OLH": (LHClient(EPSILON, SIZE, use_olh=True), LHServer(EPSILON, SIZE, use_olh=True), held[: users // 5]),
        "HR": (HadamardResponseClient(EPSILON, SIZE, hadamard.get_hash_funcs()), hadamard, held[: users // 5]),
    }
    print(json.dumps({name: measured(*pair) for name, pair in pairs.items()}))


main()
