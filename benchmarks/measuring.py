"""How the limits are measured: in turns, beside a program written by hand, and shown as a table."""

import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path

WORLDS = 1024
PAIRS = 5
SECONDS = 2.0


class Yardstick:
    """The hand-written program."""

    def __init__(self, program):
        self._program = program

    @classmethod
    def compiled(cls, folder):
        """Return the program that ``ABMARL_YARDSTICK`` names, or None."""
        source = os.environ.get("ABMARL_YARDSTICK")
        if not source:
            print("ABMARL_YARDSTICK is not set: nothing to compare with.")
            return None
        compiler = shutil.which("gcc")
        if compiler is None or not Path(source).is_file():
            raise SystemExit(f"ABMARL_YARDSTICK needs gcc and a C file, got {source!r}.")
        program = folder / "yardstick"
        subprocess.run([compiler, "-O3", "-march=native", "-o", program, source], check=True)
        return cls(program)

    def rate(self) -> float:
        """Active agent-steps per second."""
        return self._read(self._start())

    def doubled(self) -> float:
        """Return the sum of the rates of two at once: what two cores give just now."""
        both = [self._start(), self._start()]
        return sum(self._read(one) for one in both)

    def _start(self):
        command = [self._program, str(WORLDS), str(SECONDS)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    @staticmethod
    def _read(process):
        output, _ = process.communicate()
        if process.returncode:
            raise SystemExit(f"The yardstick failed with exit code {process.returncode}.")
        return float(output)


def rate(step, seconds=SECONDS) -> float:
    """Return what ``step`` returns, summed up, per second."""
    total = 0
    start = time.perf_counter()
    while True:
        for _ in range(16):
            total += step()
        elapsed = time.perf_counter() - start
        if elapsed > seconds:
            return total / elapsed


def show(name, values, wanted="", form="{:,.3f}"):
    """One line of the table."""
    found = (statistics.median(values), min(values), max(values))
    print(
        f"{name:<44}" + "".join(f"{form.format(v):>12}" for v in found) + f"  {wanted}", flush=True
    )


def ratios(found, above, below) -> list:
    """Return the ratios of two entries, turn by turn."""
    return [turn[above] / turn[below] for turn in found]
