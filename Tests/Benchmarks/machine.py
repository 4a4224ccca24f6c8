"""What the figures of a benchmark depend on, in words."""

import os
import platform
from pathlib import Path


def model():
    """The name of the CPU."""
    return Path("/proc/cpuinfo").read_text().split("model name", 1)[-1].split("\n", 1)[0].strip("\t :")


def describe():
    """The CPU, the cores that this process may use, the memory and the kernel."""
    cores = len(os.sched_getaffinity(0))
    memory = int(Path("/proc/meminfo").read_text().split("MemTotal:", 1)[1].split()[0]) / (1 << 20)
    return f"{model()}, {cores} core{'' if cores == 1 else 's'}, {memory:.0f} GiB, {platform.system()} {platform.release()}"


if __name__ == "__main__":
    print(describe())
