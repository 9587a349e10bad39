"""Users a second of multi-freq-ldpy's clients and aggregators, as JSON; run in its own environment.

Its estimates are cut at 0 and normalized, so that their error is not that of an unbiased estimate.
"""

import json
import sys
import time

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

EPSILON, SIZE = 1, 1024


def measured(client, aggregator, held):
    client(int(held[0]), SIZE, EPSILON)  # compiled before it is measured
    start = time.process_time()
    reports = [client(int(value), SIZE, EPSILON) for value in held]
    encoded = time.process_time()
    estimates = aggregator(reports, SIZE, EPSILON)
    counted = time.process_time()
    truth = np.bincount(held, minlength=SIZE) / len(held)
    error = float(((np.asarray(estimates) - truth) ** 2).mean())
    return {"encode": len(held) / (encoded - start), "aggregate": len(held) / (counted - encoded), "mse": error}


def main():
    users = int(sys.argv[1])
    held = np.minimum(np.random.default_rng(1).zipf(1.1, users), SIZE) - 1
    few = held[: users // 5]
    found = {
        "GRR": measured(GRR_Client, GRR_Aggregator_MI, held),
        "OUE": measured(UE_Client, lambda reports, _, epsilon: UE_Aggregator_MI(reports, epsilon), few),
        "OLH": measured(LH_Client, LH_Aggregator_MI, few),
        "SS": measured(SS_Client, SS_Aggregator_MI, few),
    }
    print(json.dumps(found))


main()
