"""Trains networks by jax_privacy in an environment of its own: ask.py TASK, where the task is JSON; prints JSON.

Tasks are described in `benchmarks/learn/small_networks.py`; networks, starts and optimizer are alike, on the processor
alone. Samples are padded to one size, so that one compiled step is used; the first step, which compiles, is left out of
the times. The noise multiplier is calibrated by its PLD accountant.
"""

import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax_privacy import accounting, batch_selection, clipped_grad, noise_addition

STDDEVS = 6


def start(kind, side, seed):
    """Weights drawn evenly between ±1/√inputs, as PyTorch does."""
    keys = iter(jax.random.split(jax.random.key(seed), 8))

    def layer(inputs, *shape):
        most = inputs**-0.5
        return {
            "weight": jax.random.uniform(next(keys), shape, minval=-most, maxval=most),
            "bias": jax.random.uniform(next(keys), shape[-1:], minval=-most, maxval=most),
        }

    if kind == "layers":
        return {"first": layer(side * side, side * side, 128), "last": layer(128, 128, 10)}
    flat = 32 * (side // 4) ** 2
    return {
        "first": layer(9, 3, 3, 1, 16) | {"scale": jnp.ones(16), "shift": jnp.zeros(16)},
        "second": layer(144, 3, 3, 16, 32) | {"scale": jnp.ones(32), "shift": jnp.zeros(32)},
        "last": layer(flat, flat, 10),
    }


def convolved(weights, images, groups):
    """A convolution, a group norm, ReLU and pooling, on images of rows, columns and channels."""
    kinds = ("NHWC", "HWIO", "NHWC")
    found = jax.lax.conv_general_dilated(images, weights["weight"], (1, 1), "SAME", dimension_numbers=kinds)
    found = found + weights["bias"]
    batch, rows, columns, channels = found.shape
    grouped = found.reshape(batch, rows, columns, groups, channels // groups)
    mean = grouped.mean((1, 2, 4), keepdims=True)
    spread = grouped.var((1, 2, 4), keepdims=True)
    normal = ((grouped - mean) * jax.lax.rsqrt(spread + 1e-5)).reshape(found.shape)
    active = jax.nn.relu(normal * weights["scale"] + weights["shift"])
    return active.reshape(batch, rows // 2, 2, columns // 2, 2, channels).mean((2, 4))


def scores(weights, images):
    if "second" in weights:
        hidden = convolved(weights["second"], convolved(weights["first"], images[..., None], 4), 8)
    else:
        flat = images.reshape(len(images), -1)
        hidden = jax.nn.relu(flat @ weights["first"]["weight"] + weights["first"]["bias"])
    return hidden.reshape(len(images), -1) @ weights["last"]["weight"] + weights["last"]["bias"]


def loss(weights, images, labels):
    return optax.softmax_cross_entropy_with_integer_labels(scores(weights, images), labels).mean()


def step_of(task, optimizer, privatizer):
    gradient = clipped_grad(loss, l2_clip_norm=task["clip"], batch_argnums=(1, 2), normalize_by=task["batch"])

    @jax.jit
    def step(weights, state, noise, images, labels, is_padding):
        noisy, noise = privatizer.update(gradient(weights, images, labels, is_padding_example=is_padding), noise)
        moves, state = optimizer.update(noisy, state)
        return optax.apply_updates(weights, moves), state, noise

    return step


def trained(task, seed, rows, labels, sigma, steps):
    """The weights, and the seconds of a step."""
    optimizer = optax.sgd(task["rate"], momentum=task["momentum"])
    privatizer = noise_addition.gaussian_privatizer(stddev=sigma * task["clip"] / task["batch"], prng_key=seed)
    step = step_of(task, optimizer, privatizer)
    weights = start(task["network"], rows.shape[1], seed)
    state, noise = optimizer.init(weights), privatizer.init(weights)
    sampling = batch_selection.CyclicPoissonSampling(sampling_prob=task["batch"] / len(rows), iterations=steps)
    most = int(task["batch"] + STDDEVS * task["batch"] ** 0.5)
    began = None
    for chosen in sampling.batch_iterator(len(rows), rng=seed):
        padded = batch_selection.pad_to_multiple_of(chosen, most)
        if len(padded) != most:
            raise SystemExit("a sample is larger than any that was foreseen")
        weights, state, noise = step(weights, state, noise, rows[padded], labels[padded], padded < 0)
        if began is None:
            jax.block_until_ready(weights)
            began = time.perf_counter()
    jax.block_until_ready(weights)
    return weights, (time.perf_counter() - began) / (steps - 1)


def main(task):
    data = np.load(task["data"])
    rows, test_rows = data["rows"][:, 0], data["test_rows"][:, 0]
    steps = round(task["epochs"] * len(rows) / task["batch"])
    accountant = accounting.analysis.DpsgdTrainingAccountant(
        dp_accountant_config=accounting.accountants.PldAccountantConfig()
    )
    facts = {"batch_sizes": task["batch"], "num_samples": len(rows)}
    sigma = accounting.calibrate.calibrate_noise_multiplier(
        target_epsilon=task["epsilon"], accountant=accountant, num_updates=steps, target_delta=task["delta"], **facts
    )
    settings = accounting.analysis.DpParams(
        noise_multipliers=sigma, batch_size=task["batch"], num_samples=len(rows), delta=task["delta"]
    )
    found = {"accuracy": [], "seconds": [], "steps": steps, "sampling": task["batch"] / len(rows)}
    found |= {"noise_multiplier": sigma, "epsilon": accountant.compute_epsilon(steps, settings)}
    for seed in task["seeds"]:
        weights, seconds = trained(task, seed, rows, data["labels"], sigma, steps)
        right = np.asarray(scores(weights, test_rows)).argmax(1) == data["test_labels"]
        found["accuracy"].append(float(right.mean()))
        found["seconds"].append(seconds)
    print(json.dumps(found))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
