"""Compares today's ratios with the stored ones: ``python -m benchmarks.check [--update]``.

Exit code 0: none has fallen; 1: one has fallen by more than a quarter, or there is nothing to
compare it with; 2: the stored ratios cannot be read.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.contests import CONTESTS

STORED = Path(__file__).with_name("ratios.json")
ALLOWED = 0.75
TRIES = 3


def main(arguments=None) -> int:
    """Measures, prints the table and returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check", description=__doc__)
    parser.add_argument("--update", action="store_true", help="store what is measured now")
    parser.add_argument("--only", metavar="NAME", action="append", help="measure just this ratio")
    parser.add_argument("--stored", type=Path, default=STORED, help="another file of ratios")
    options = parser.parse_args(arguments)
    names = options.only or list(CONTESTS)
    for name in names:
        if name not in CONTESTS:
            parser.error(f"there is no ratio {name!r}; there are {', '.join(CONTESTS)}")
    try:
        stored = read(options.stored)
    except (OSError, ValueError) as error:
        if not options.update:
            print(f"Cannot read the stored ratios: {error}; store some with --update.")
            return 2
        stored = {}
    print(f"{'ratio':<26}{'stored':>9}{'now':>9}  verdict", flush=True)
    failed = []
    for name in names:
        # With --update the best of all tries is stored, which is what later ones are held to.
        goal = float("inf") if options.update else stored.get(name, 0.0) * ALLOWED
        now = measure(CONTESTS[name](), goal)
        verdict = _verdict(options.update, stored.get(name), now)
        if verdict.isupper():
            failed.append(name)
        before = f"{stored[name]:9.3f}" if name in stored else f"{'-':>9}"
        print(f"{name:<26}{before}{now:9.3f}  {verdict}", flush=True)
        if options.update:
            stored[name] = round(now, 3)
    if options.update:
        kept = {name: stored[name] for name in CONTESTS if name in stored}
        options.stored.write_text(json.dumps(kept, indent=2) + "\n")
        return 0
    for name in sorted(stored.keys() - CONTESTS.keys()):
        print(f"{name:<26}{stored[name]:9.3f}{'-':>9}  NOT MEASURED")
        failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)} (more than {1 - ALLOWED:.0%} below the stored ratio).")
    return 1 if failed else 0


def read(path) -> dict:
    """Return the stored ratios by name.

    Raises:
        OSError: There is no such file.
        ValueError: It does not hold ratios.
    """
    found = json.loads(path.read_text())
    if not isinstance(found, dict) or not all(
        isinstance(ratio, float | int) and ratio > 0 for ratio in found.values()
    ):
        raise ValueError(f"{path.name} must hold a number above 0 for every name")
    return found


def measure(contest, goal) -> float:
    """Return the ratio; one below ``goal`` is measured again, and the best of all tries counts."""
    best = 0.0
    for _ in range(TRIES):
        best = max(best, contest.ratio())
        if best >= goal:
            break
    return best


def _verdict(update, stored, now):
    if update:
        return "stored"
    if stored is None:
        return "NOT STORED"
    if now < stored * ALLOWED:
        return "SLOWER"
    return "faster" if now * ALLOWED > stored else "as before"


if __name__ == "__main__":
    sys.exit(main())
