#!/usr/bin/env python3
"""Draw the charts of `docs/explanation/` into this folder, or into the one that is named."""

import re
import sys
from contextlib import chdir
from fractions import Fraction
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.accounting.composition.joint_gaussian import joint_stddevs
from sfumato.accounting.gaussian.gaussian import analytic_stddev
from sfumato.attacks.core.outcome import Outcome, curve
from sfumato.attacks.linking.finding_homes import distances_of_means
from sfumato.attacks.linking.traces import unicity_by_points, unicity_picture
from sfumato.attacks.reconstruction import accuracy_over, noisy_sums
from sfumato.datasets.pseudonyms import traces
from sfumato.datasets.towns import city
from sfumato.geo import Grid, PlanarLaplace, RoadGraph, TileMemory, noisy_traffic, open_traffic
from sfumato.local import (
    DEPLOYMENTS,
    DeviceBudget,
    DirectEncoding,
    HadamardResponse,
    LocalHashing,
    OptimizedUnaryEncoding,
    Rappor,
    SubsetSelection,
    SymmetricUnaryEncoding,
    ThresholdedHistogram,
    detection_frequency,
    spent_by,
)
from sfumato.local import MEASURED as OF_DEVICES
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.plots import (
    detection_curve,
    device_costs,
    distances_over_reports,
    fractions_found,
    save,
    variances_over_epsilon,
)
from sfumato.plots.panels import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, legend, new_figure, percent
from sfumato.privacy.guarantees import ApproxDP

EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
ANSWERS = (1, 2, 4, 6, 9, 12, 16, 25, 36, 49, 64)
PEOPLE = 20_000
TRACES = 4_000
HOMES = 40
VALUES = 1024
RATIO = 0.75  # the share of those who made a visit and make another one
LIMITS = range(1, 31)
EXPLAINED = Path(__file__).parent.parent / "explanation"
MEASURED = EXPLAINED / "scale.md"
"""The page with the table of `benchmarks/engine/bench_scale.py`."""
ATTACKED = EXPLAINED / "attacks.md"
"""The page with the table of `benchmarks/attacks/bench_attacks.py`."""
SCALES = (0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def noise_of_several_answers(folder: Path) -> Path:
    """Noise of n counts that one unit changes by 1 each, at ε 1 and δ 1e-6 for all of them."""
    laplace = [sqrt(2) * n for n in ANSWERS]
    alone = [float(analytic_stddev(l2_sensitivity=1, epsilon=EPSILON / n, delta=DELTA / n)) for n in ANSWERS]
    together = [
        float(joint_stddevs(
            l2_sensitivities=[1] * n, l0_sensitivities=[1] * n, weights=[1] * n, epsilon=EPSILON, delta=DELTA
        )[0])
        for n in ANSWERS
    ]  # fmt: skip
    figure, (axes,) = new_figure(
        "Beyond nine counts, joint Gaussian noise is smaller than Laplace noise",
        x_label="number of counts, which cost ε 1 and δ 1e-6 together",
        y_label="noise stddev of each count, in people",
    )
    lines: dict[str, tuple[list[float], str]] = {
        "Gaussian, each alone": (alone, ORANGE),
        "Laplace": (laplace, GREY),
        "Gaussian, joint": (together, BLUE),
    }
    for label, (stddevs, color) in lines.items():
        axes.plot(ANSWERS, stddevs, color=color, linewidth=2.2, marker="o", markersize=4, label=label)
    axes.set(xlim=(0, None), ylim=(0, 150))
    legend(axes, place="upper right")
    return save(figure, folder / "noise_together.png")


def errors_of_a_limit(folder: Path) -> Path:
    """What a limit on rows leaves out of a count, and the noise it needs, when few people make many visits."""
    counts = [round(PEOPLE * RATIO**visit) for visit in range(200)]  # who made more visits than this
    left_out = [float(sum(counts[limit:])) for limit in LIMITS]
    noise = [float(Laplace(l1_sensitivity=limit, epsilon=Fraction(1, 100)).accuracy("0.95")) for limit in LIMITS]
    both = [missing + error for missing, error in zip(left_out, noise, strict=True)]
    best = LIMITS[both.index(min(both))]
    figure, (axes,) = new_figure(
        f"At ε 0.01 a limit of {best} rows gives the smallest error",
        x_label="max_rows_per_unit (rows of one person)", y_label=f"error in visits, of {sum(counts):,}",
    )  # fmt: skip
    lines: dict[str, tuple[list[float], str]] = {
        "sum of both": (both, RED), "left out by the limit": (left_out, ORANGE), "noise, 95%": (noise, BLUE),
    }  # fmt: skip
    for label, (values, color) in lines.items():
        axes.plot(LIMITS, values, color=color, linewidth=2.2, label=label)
    axes.set(xlim=(0, LIMITS[-1]), ylim=(0, 20_000))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    legend(axes, place="upper right")
    return save(figure, folder / "limit_of_rows.png")


def costs(folder: Path) -> Path:
    """Wall time by rows and by groups, from the table."""
    cells = [line.split("|")[1:-1] for line in MEASURED.read_text().splitlines() if line.startswith("| ")]
    table = [(_number(rows), groups, _seconds(one), _seconds(two)) for rows, groups, _, _, one, two, _ in cells[1:12]]
    public = [(rows, one, two) for rows, groups, one, two in table if "public" in groups]
    private = [(_number(groups), one, two) for _, groups, one, two in table if "private" in groups]
    figure, panels = new_figure(
        "Time grows with the rows; 100,000 times as many groups about double it",
        panels=2,
        x_label="number of rows above, of groups below",
    )
    labels = ("wall time in s,\n100 public groups", "wall time in s,\n10 million rows")
    for axes, points, label in zip(panels, (public, private), labels, strict=True):
        sizes, *times = zip(*points, strict=True)
        for (name, color), seconds in zip((("one core", BLUE), ("two cores", ORANGE)), times, strict=True):
            axes.plot(sizes, seconds, color=color, linewidth=2.2, marker="o", markersize=4, label=name)
        axes.set(xscale="log", ylabel=label)
    panels[0].set(yscale="log", ylim=(0.3, 100))
    panels[0].yaxis.set_major_formatter("{x:g}")
    panels[1].set(ylim=(0, None))
    legend(panels[0], place="upper left")
    return save(figure, folder / "cost_at_scale.png")


def attacks_over_epsilon(folder: Path) -> Path:
    """Success rates of each attack over ε with 95% intervals, from the table without its last column."""
    lines = [line for line in ATTACKED.read_text("utf-8").splitlines() if line.startswith("| ")]
    (head, *rows) = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines[:9])
    epsilons = [cell.removeprefix("ε = ") for cell in head[1:-2]]
    figure, (axes,) = new_figure(
        "Four of seven attacks reach the limit that ε sets",
        x_label="ε of all answers together",
        y_label="right guesses of a fair coin, share",
    )
    colors = (BLUE, ORANGE, GREEN, PURPLE, "#56B4E9", GREY, RED)
    bound, *cells, _ = rows[-1]
    for place, share in enumerate(map(_share, cells[:-1])):
        axes.hlines(share, place - 0.42, place + 0.42, color=INK, linewidth=1.6, label=None if place else bound)
    for at, ((name, *cells, guesses), color) in enumerate(zip(rows[:-1], colors, strict=True)):
        shares = [_share(cell) for cell in cells[:-1]]
        bars = [abs(end - share) for share in shares for end in _interval(share, int(guesses.replace(",", "")))]
        beside = [place + 0.11 * (at - len(colors) // 2) for place in range(len(epsilons))]
        axes.errorbar(
            beside, shares, yerr=[bars[::2], bars[1::2]], color=color, fmt="o", markersize=4, capsize=2, label=name
        )
    axes.set(ylim=(0.45, 1.02), xticks=range(len(epsilons)), xticklabels=epsilons)
    axes.yaxis.set_major_formatter(percent())
    legend(axes, place="beside")
    return save(figure, folder / "attacks_over_epsilon.png")


def _interval(share: float, guesses: int) -> tuple[float, float]:
    """A 95% interval of the probability of a right guess, from the measured share."""
    return Outcome(attack="", successes=round(share * guesses), trials=guesses, baseline=0.5).interval()


def reconstruction_error(folder: Path) -> Path:
    """Right bits over the noise scale in each of 512 sums about 128 people, four databases each."""
    found = accuracy_over(SCALES, lambda secret, scale: noisy_sums(secret, scale=scale), databases=4)
    figure = curve(
        found,
        x_label="Laplace scale in each of 512 sums, in people",
        title="Noise of scale 2 barely slows reconstruction; scale 256 stops it",
    )
    figure.axes[0].set_ylabel("right bits of 128, share")
    return save(figure, folder / "reconstruction_error.png")


def unicity(folder: Path) -> Path:
    """People identified by points of their traces, at four resolutions."""
    widths = {"an antenna, an hour": 1, "4 antennas, 2 hours": 2, "16 antennas, 4 hours": 4}
    resolutions = {name: {"x": width, "y": width, "hour": width} for name, width in widths.items()}
    resolutions["a sixth of the city, half a day"] = {"x": 12, "y": 12, "hour": 12}
    found = unicity_by_points(traces(TRACES), user="person", columns=["x", "y", "hour"], resolutions=resolutions)
    figure = unicity_picture(found, title="Four precise points identify nearly everybody")
    figure.axes[0].set(xlabel="known points of a trace", ylabel=f"identified people of {TRACES:,}, share")
    return save(figure, folder / "unicity.png")


def local_variances(folder: Path) -> Path:
    """The variance of every frequency oracle over ε, for 1,024 values."""
    epsilons = [Fraction(step, 4) for step in range(1, 25)]
    kinds = {
        "direct encoding": DirectEncoding,
        "symmetric unary": SymmetricUnaryEncoding,
        "thresholded histogram": ThresholdedHistogram,
        "Hadamard, one bit": HadamardResponse,
        "optimized unary": OptimizedUnaryEncoding,
        "local hashing": LocalHashing,
        "subset selection": SubsetSelection,
    }
    curves = {
        name: [kind(VALUES, epsilon=epsilon).variance(reports=1) for epsilon in epsilons]
        for name, kind in kinds.items()
    }
    figure = variances_over_epsilon(
        list(map(float, epsilons)),
        curves,
        y_label="variance of one estimate × number of reports",
        title=f"For {VALUES:,} values, three oracles nearly share the least variance",
    )
    return save(figure, folder / "local_variances.png")


def local_fractions(folder: Path) -> Path:
    """What 100,000 reports at ε = 2 say of the hours that people work."""
    held = np.clip(np.round(np.random.default_rng(5).normal(39, 8, 100_000) / 2), 0, 39).astype(np.int64)  # noqa: TID251 # made-up people, of whom nothing is released
    oracle = OptimizedUnaryEncoding(40, epsilon=2)
    collected = oracle.aggregator()
    collected.add(oracle.client().report_many(held))
    found = collected.estimate()
    truths = np.bincount(held, minlength=40) / len(held)
    limits = list(zip(found.low.tolist(), found.high.tolist(), strict=True))
    figure = fractions_found(
        truths.tolist(),
        found.fractions.tolist(),
        limits=limits,
        title="100,000 reports at ε = 2 find common values; rare ones drown in the noise",
    )
    return save(figure, folder / "local_fractions.png")


def rappor_detection(folder: Path) -> Path:
    """How often each of sixty texts is detected, in twenty collections of 50,000 reports each."""
    homepages = Rappor(bits=64, hashes=2, cohorts=8, f="0.25", p="0.25", q="0.75")
    texts = [f"text {number}" for number in range(60)]
    weights = np.exp(-np.arange(len(texts)) / 10)
    fractions = weights / weights.sum()
    reports, collections = 50_000, 20
    found = dict.fromkeys(texts, 0)
    held = np.repeat(np.array(texts, dtype=object), np.round(fractions * reports).astype(np.int64))
    for _ in range(collections):
        collected = homepages.aggregator()
        collected.add(homepages.client().report_many(held))
        for text in collected.estimate(texts).detected:
            found[str(text)] += 1
    least = detection_frequency(homepages, reports=len(held), candidates=len(texts))
    figure = detection_curve(
        fractions.tolist(),
        [count / collections for count in found.values()],
        threshold=least,
        title=f"All {collections} collections of {reports:,} reports detect texts that 2.5% of people hold",
    )
    return save(figure, folder / "rappor_detection.png")


def lifetimes(folder: Path) -> Path:
    """What documented deployments spend in ten years, and a device that has a budget."""
    days = [1, 2, 5, 10, 20, 30, 60, 90, 180, 365, 730, 1461, 2922, 3652]
    curves = {use.name: spent_by(use.per_day, days) for use in OF_DEVICES}
    wanted = {"Emoji", "Health types"}
    curves |= {use.name: spent_by(use.per_day, days) for use in reversed(DEPLOYMENTS) if use.name in wanted}
    budget = DeviceBudget(per_use=1, per_day=1, lifetime=20)
    curves["1 a day, budget of 20"] = spent_by(1, days, budget=budget)
    figure = device_costs(days, curves, title="Without a budget for a lifetime, ε grows every day")
    return save(figure, folder / "device_costs.png")


def daily_visits(folder: Path) -> Path:
    """The counter of the tutorial, run as its page says."""
    page = (EXPLAINED.parent / "tutorials" / "daily-visits.md").read_text("utf-8")
    names: dict[str, Any] = {}
    with TemporaryDirectory() as scratch, chdir(scratch):
        for code in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
            exec(compile(code, "daily-visits.md", "exec"), names)  # noqa: S102 # the page's own code
        names["visits"].close()
        names["library"].close()
    return save(names["total"].plot(), folder / "daily_visits.png")


def homes_found(folder: Path) -> Path:
    """How near the mean of reports comes to a home, at level low: the mean of many homes."""
    noisy = PlanarLaplace(Grid.around("48.8566", "2.3522", width=20_000, height=20_000, cell=50), level="low")
    home, reports = (48.8606, 2.3376), [1, 3, 10, 30, 100, 300]
    makers = {
        "fresh noise each time": lambda: noisy.release,
        "a report for each tile": lambda: TileMemory(noisy).release,
    }
    curves = {
        name: np.mean([distances_of_means(make(), home, reports=reports) for _ in range(HOMES)], axis=0).tolist()
        for name, make in makers.items()
    }
    figure = distances_over_reports(reports, curves, title="Fresh reports give a home away, and a memory does not")
    return save(figure, folder / "homes_found.png")


def traffic(folder: Path) -> Path:
    """A morning of 20,000 made-up people on 334 segments of road, at ε 1 and δ 1e-6."""
    made = city(20_000, days=5)
    roads = RoadGraph.from_geojson(made.roads)
    local = np.asarray(made.passages["time"]).astype("datetime64[s]") - np.timedelta64(2, "h")
    columns = {name: made.passages[name] for name in ("person", "segment", "speed")}
    hour = local.astype("datetime64[h]").astype(np.int64) % 24
    table = pa.table({**columns, "day": local.astype("datetime64[D]"), "hour": hour})
    days, budget = ("2026-03-02", "2026-03-06"), ApproxDP(EPSILON, DELTA)
    with open_traffic(table, roads, days=days, passages_per_day=30, speeds=(0, 90), budget=budget) as db:
        found = noisy_traffic(db.table("passages"), roads, hours=[8]).release(epsilon=EPSILON, delta=DELTA)
    figure = found.plot(8, water=made.river, title="From 8:00 to 9:00 traffic is densest on the Old Bridge")
    return save(figure, folder / "traffic.png")


def trips_map(folder: Path) -> Path:
    """Where trips of a made-up city end, as `examples/f04_trips_map.py` asks for it."""
    city = sf.datasets.city(2_000, days=2)
    columns = {"person": sf.integer(), "to_latitude": sf.real(45, 46), "to_longitude": sf.real(-31, -29)}
    limits = sf.Limits(max_rows_per_unit=6)
    cells = sf.geo.HexagonGrid(sf.geo.LocalProjection("45.5", -30), width=500, columns=13, rows=14)
    with sf.open(city.trips, name="trips", unit="person", limits=limits, columns=columns, budget=sf.PureDP(1)) as db:
        found = sf.geo.noisy_map(db.table(), "to_latitude", "to_longitude", cells=cells).release(epsilon=1)
    title = "Trips of a made-up city end in its middle"
    return found.save(folder / "trips_map.png", roads=city.roads, title=title)


def baskets(folder: Path) -> Path:
    """Frequent sets of items of a made-up shop, as `examples/f10_baskets.py` finds and makes them."""
    shop = sf.datasets.shop(50_000)
    columns = {"customer": sf.integer(), "item": sf.text(values=shop.items)}
    limits = sf.Limits(max_rows_per_unit=50)
    with sf.open(shop.sales, name="sales", unit="customer", limits=limits, columns=columns, budget=sf.PureDP(2)) as db:
        read = db.baskets("SELECT item FROM sales", item="item")
        found = sf.synth.frequent_itemsets(read, k=20, epsilon=1)
        made = sf.synth.synthetic_baskets(read, taxonomy=shop.categories, epsilon=1)
    exact = shop.bought_together()
    figure = sf.plots.itemset_counts(
        [", ".join(map(str, one)) for one in found.itemsets],
        {"counted, ε = 1": found.counts, "in made-up baskets, ε = 1": list(map(made.count, found.itemsets))},
        exact=[exact[tuple(map(str, one))] for one in found.itemsets], margins={"counted, ε = 1": found.margin},
        floor=found.margin, title="Made-up baskets keep the frequent sets, and lose rare kinds",
        x_label="number of customers",
    )  # fmt: skip
    return save(figure, folder / "baskets.png")


def _share(cell: str) -> float:
    return float(cell.removesuffix("%")) / 100


def _number(cell: str) -> int:
    return int("".join(filter(str.isdigit, cell)))


def _seconds(cell: str) -> float:
    return float(cell.partition(" s,")[0])


if __name__ == "__main__":
    target = Path(*sys.argv[1:2]) if sys.argv[1:] else Path(__file__).parent
    for draw in (
        noise_of_several_answers, errors_of_a_limit, costs, attacks_over_epsilon, reconstruction_error, unicity,
        local_variances, local_fractions, rappor_detection, lifetimes, daily_visits, homes_found, traffic, trips_map,
        baskets,
    ):  # fmt: skip
        print(draw(target))  # noqa: T201 # it is a script
