"""Writes data/grain_data.json: orders, derived seeds and states of Grain's pipelines."""

import json
import pathlib
import sys

import grain
import numpy as np
from grain._src.python.experimental.index_shuffle.python import index_shuffle_module

found = {}
Map = grain.MapDataset


def index_shuffle(length, seed, indices):
    shuffle = index_shuffle_module.index_shuffle
    return [shuffle(i, max_index=length - 1, seed=seed, rounds=4) for i in indices]


def lists(batches):
    return [np.asarray(batch).tolist() for batch in batches]


def first(dataset, count):
    """The first elements of a dataset, and its state before each and after the last."""
    iterator, elements, states = iter(dataset), [], []
    for _ in range(count):
        states.append(iterator.get_state()["next_index"])
        elements.append(np.asarray(next(iterator)).tolist())
    states.append(iterator.get_state()["next_index"])
    return {"elements": elements, "states": states}


small = [1, 2, 3, 10, 100, 257]
found["orders"] = [
    {"len": n, "seed": seed, "order": index_shuffle(n, seed, range(n))}
    for n in small
    for seed in (0, 42, 2**32 - 1)
]
large = [
    60_000, 65_535, 65_536, 65_538, 100_000, 131_073, 262_144, 1_000_000, 2**24 - 3, 2**31 + 11,
    2**32 - 1, 2**33, 2**40 + 3, 10**15,
]
found["numbers"] = []
for n in large:
    places = sorted({0, 1, 2, n // 3, n // 2, n - 2, n - 1})
    numbers = index_shuffle(n, 42, places)
    found["numbers"].append({"len": n, "seed": 42, "places": places, "numbers": numbers})
# Of these lengths Grain repeats some elements and omits others.
found["defects"] = [
    {"len": n, "missing": sorted(set(range(n)) - set(index_shuffle(n, 42, range(n))))}
    for n in (65_537, 262_145)
]

found["epochs"] = [
    [int(x) for x in Map.range(7).shuffle(seed=5).repeat(3)],
    [int(x) for x in Map.range(7).shuffle(seed=2**32 - 1).repeat(3)],
]
found["same_each_time"] = [int(x) for x in Map.range(7).shuffle(seed=5).repeat(3, reseed_each_epoch=False)]
sampler = grain.samplers.IndexSampler(7, shard_options=grain.sharding.NoSharding(), shuffle=True, num_epochs=3, seed=5)
found["sampler"] = [int(sampler[i].record_key) for i in range(len(sampler))]


def default_seed(dataset):
    return int(dataset._default_seed)


def noise(x, generator):
    return x


source = Map.range(5)
mixed = Map.mix([source.seed(1).shuffle(), source.seed(2)], [1, 1])
found["seeds"] = {
    "shuffle": default_seed(source.seed(0).shuffle()),
    "second": default_seed(source.seed(0).shuffle().map(abs).random_map(noise)),
    "large": default_seed(source.seed(2**40 + 7).shuffle()),
    "again": default_seed(source.seed(0).shuffle().seed(9).shuffle()),
    "mixed": default_seed(mixed.random_map(noise)),
    "stream": default_seed(source.seed(3).shuffle().to_iter_dataset().map(abs).random_map(noise)),
}

pipeline = Map.range(10).seed(0).shuffle().repeat().map(lambda x: 10 * x).batch(4)
found["pipeline"] = first(pipeline.to_iter_dataset(), 12)
found["pipeline"]["len"] = [len(Map.range(10).repeat()) == sys.maxsize, len(Map.range(0).repeat())]
found["batch_then_repeat"] = first(Map.range(5).seed(7).shuffle().batch(2).repeat().to_iter_dataset(), 9)
found["sparse"] = first(Map.range(9).seed(3).filter(lambda x: x % 3 > 0).shuffle().repeat().to_iter_dataset(), 20)
found["slice"] = first(Map.range(11).seed(1).shuffle()[1::3].repeat().to_iter_dataset(), 12)

windows = grain.experimental.WindowShuffleIterDataset(Map.range(11).to_iter_dataset(), window_size=4, seed=42)
found["window_shuffle"] = [int(x) for x in windows]

file = pathlib.Path(__file__).parent / "data" / "grain_data.json"
file.parent.mkdir(exist_ok=True)
file.write_text(json.dumps(found, separators=(",", ":")).replace("},{", "},\n{").replace('],"', '],\n"') + "\n")
