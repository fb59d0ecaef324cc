"""`loader` with PyTorch's DataLoader and with Grain. Prints a JSON line for each case.

    pip install torch grain
    python loader.py --framework torch
    python loader.py --framework grain
"""

import argparse
import json
import statistics
import time

import numpy as np

BATCH = 128
SAMPLES = 5


def labels(count):
    return (np.arange(count) % 10).astype(np.int32)


def cases():
    rows = np.add.outer(np.arange(65536), np.arange(64)).astype(np.float32)
    yield "rows", rows, labels(65536), False
    yield "images", np.random.default_rng(0).integers(0, 256, (16384, 28, 28), np.uint8), labels(16384), True
    yield "pictures", np.random.default_rng(0).integers(0, 256, (1024, 96, 96, 3), np.uint8), labels(1024), True


def normalised(x):
    return x.astype(np.float32) / np.float32(127.5) - np.float32(1)


def torch_loader(x, y, transform, workers):
    import torch
    from torch.utils.data import DataLoader, Dataset, TensorDataset

    torch.set_num_threads(1)

    class Pictures(Dataset):
        def __len__(self):
            return len(x)

        def __getitem__(self, i):
            return torch.from_numpy(x[i]).float().div_(127.5).sub_(1.0), y[i]

    data = Pictures() if transform else TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
    loader = DataLoader(data, BATCH, shuffle=True, drop_last=True, num_workers=workers,
                        persistent_workers=workers > 0)
    return lambda: sum(x.numel() * 4 + y.numel() * 4 for x, y in loader)


def grain_loader(x, y, transform, workers):
    import grain

    class Source:
        def __len__(self):
            return len(x)

        def __getitem__(self, i):
            return (normalised(x[i]) if transform else x[i]), y[i]

    def epoch():
        data = grain.MapDataset.source(Source()).shuffle(seed=0).batch(BATCH, drop_remainder=True)
        # Without workers, no thread reads ahead.
        data = data.to_iter_dataset(grain.ReadOptions(num_threads=workers, prefetch_buffer_size=2 * workers))
        return sum(x.nbytes + y.nbytes for x, y in data)

    return epoch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--framework", choices=["torch", "grain"], default="torch")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    args = parser.parse_args()
    make = {"torch": torch_loader, "grain": grain_loader}[args.framework]
    for case, x, y, transform in cases():
        for workers in (0, 1, 2):
            epoch = make(x, y, transform, workers)
            size = epoch()
            times = []
            for _ in range(args.samples):
                begin = time.perf_counter()
                epoch()
                times.append(time.perf_counter() - begin)
            best = min(times)
            print(json.dumps({"workload": "loader", "framework": args.framework, "case": case, "workers": workers,
                              "median_s": statistics.median(times), "best_s": best,
                              "elements_per_s": round(len(x) // BATCH * BATCH / best),
                              "bytes_per_s": round(size / best), "samples": args.samples}), flush=True)


if __name__ == "__main__":
    main()
