"""Made-up rows by SmartNoise-synth's MST or AIM, and what they took, as JSON; run in its own environment.

Columns are the numbers of declared values. It reads which values there are, and how many rows, off the data. AIM's own
default of 16 rounds a column takes hours on a table of Adult's size; `--rounds` states fewer.
"""

import argparse
import json
import resource
import sys
import time

import numpy as np
import pandas as pd
from snsynth.aim import AIMSynthesizer
from snsynth.mst import MSTSynthesizer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("method", choices=["mst", "aim"])
    parser.add_argument("rows")
    parser.add_argument("out")
    parser.add_argument("--epsilon", type=float, default=1)
    parser.add_argument("--delta", type=float, default=1e-9)
    parser.add_argument("--rounds", type=int)
    arguments = parser.parse_args()
    rows = pd.DataFrame(dict(np.load(arguments.rows)))
    start = time.process_time()
    if arguments.method == "mst":
        maker = MSTSynthesizer(epsilon=arguments.epsilon, delta=arguments.delta)
    else:
        maker = AIMSynthesizer(epsilon=arguments.epsilon, delta=arguments.delta, rounds=arguments.rounds)
    maker.fit(rows, categorical_columns=list(rows.columns))
    made = maker.sample(len(rows))
    seconds = time.process_time() - start
    drawn = pd.DataFrame(made, columns=rows.columns).astype("int64")
    np.savez(arguments.out, **{name: drawn[name].to_numpy() for name in drawn})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "megabytes": peak}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
