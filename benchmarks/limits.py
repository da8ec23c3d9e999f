"""What the engine must show, measured in one run on one machine: ``make bench-limits``.

``ABMARL_YARDSTICK`` names a C file that plays the team battle by hand and prints active
agent-steps per second on one thread, called as ``program worlds seconds``. It is compiled with
``gcc -O3 -march=native`` and measured in turns with the engine. Without it the rates are
printed alone.
"""

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

from benchmarks.adapters import adapters
from benchmarks.measuring import PAIRS, WORLDS, Yardstick, rate, ratios, show
from benchmarks.object_battle import ObjectBattle
from benchmarks.worlds import HORIZON, Play, SinglePlay, battle, crowd


def main() -> int:
    """Measures and prints everything."""
    with tempfile.TemporaryDirectory() as folder:
        yardstick = Yardstick.compiled(Path(folder))
        print(f"{'':<44}{'median':>12}{'min':>12}{'max':>12}  wanted")
        for part in (rates, adapters, large_world, blockers):
            part(yardstick)
            # What a part leaves behind, 100,000 agents for one, is not to be freed within the next.
            gc.collect()
        starts(Path(folder))
    return 0


def rates(yardstick):
    """Return the team battle: vectorised on one and two threads, and one world with dicts."""
    one = Play(battle(), WORLDS, stagger=False)
    two = Play(battle(), WORLDS, stagger=False, num_threads=2)
    single = SinglePlay(battle())

    def single_step():
        single.step()
        return 1

    single.reset(seed=0)
    by_agent = SinglePlay(battle(kind=ObjectBattle), like=battle())

    def object_step():
        by_agent.step()
        return 1

    found = []
    for _ in range(PAIRS):
        found.append(
            {
                "yardstick": yardstick.rate() if yardstick else float("nan"),
                "one": rate(one.step),
                "two": rate(two.step),
                "cores": yardstick.doubled() if yardstick else float("nan"),
                "single": rate(single_step),
                "object": rate(object_step),
            }
        )
    each = {name: [turn[name] for turn in found] for name in found[0]}
    million = "{:,.2f} M"
    show("survivors, vectorised (of 24)", [one.acting() / WORLDS], "about a third", "{:.2f}")
    if yardstick:
        show("yardstick, agent-steps/s", [r / 1e6 for r in each["yardstick"]], form=million)
    show("vectorised, 1 thread, agent-steps/s", [r / 1e6 for r in each["one"]], form=million)
    show("vectorised, 2 threads, agent-steps/s", [r / 1e6 for r in each["two"]], form=million)
    show("one world with dicts, steps/s", each["single"], form="{:,.0f}")
    show("one world in the object style, steps/s", each["object"], form="{:,.0f}")
    if yardstick:
        show("1 thread / yardstick", ratios(found, "one", "yardstick"), ">= 0.6, aim 0.9")
    show("2 threads / 1 thread", ratios(found, "two", "one"), ">= 1.7")
    if yardstick:
        show("  2 yardsticks at once / 1", ratios(found, "cores", "yardstick"), "(2 free cores: 2)")
        per_thousand = [1000 * ratio for ratio in ratios(found, "single", "yardstick")]
        show("steps with dicts per 1,000 yardstick steps", per_thousand, ">= 1")
        per_thousand = [2500 * ratio for ratio in ratios(found, "object", "yardstick")]
        show("object style, steps per 2,500 yardstick steps", per_thousand, ">= 1")


def large_world(yardstick):
    """One world of up to 100,000 agents: rate, memory and cost per agent."""
    costs, allocated = {}, {}
    for count in (1_000, 10_000, 100_000):
        sim = crowd(count)
        # Everything is compiled and loaded by the first one; the second one is weighed.
        Play(sim, 1, 2)
        tracemalloc.start()
        play = sim.vectorize(1, seed=0, horizon=HORIZON)
        play.reset()
        play.step(play.sample_actions())
        allocated[count] = (tracemalloc.get_traced_memory()[0] - seen(play)) / count
        tracemalloc.stop()
        play = Play(sim, 1, 1)
        costs[count] = [full_step(play) * 1e9 for _ in range(PAIRS * 2)]
        show(f"{count:,} agents, all active, ns per agent-step", costs[count], form="{:,.1f}")
        if count == 100_000:
            whole = []
            against = []
            for _ in range(PAIRS):
                base = yardstick.rate() if yardstick else float("nan")
                whole.append(episode(play))
                against.append(whole[-1] / base)
            show("100,000 agents, whole episodes, M steps/s", [r / 1e6 for r in whole])
            if yardstick:
                show("  / yardstick", against, ">= 0.125")
    growth = statistics.median(costs[100_000]) / statistics.median(costs[1_000])
    show("cost per agent, 100,000 / 1,000 agents", [growth], "must not grow")
    growth = statistics.median(costs[100_000]) / statistics.median(costs[10_000])
    show("cost per agent, 100,000 / 10,000 agents", [growth], "must not grow")
    for count, size in allocated.items():
        show(f"{count:,} agents, bytes per agent", [size], "<= 250 at 100,000", "{:,.1f}")


def seen(vec) -> int:
    """Bytes of all observations, final ones included."""
    parts = (vec.observations(), vec.infos()["final_obs"])
    return sum(a.nbytes for part in parts for channels in part.values() for a in channels.values())


def full_step(play) -> float:
    """Seconds per agent of the first step of an episode, in which nobody has been killed yet."""
    play.vec.reset()
    start = time.perf_counter()
    acted = play.step()
    return (time.perf_counter() - start) / acted


def episode(play) -> float:
    """Active agent-steps per second from one reset to the next."""
    play.vec.reset()
    start = time.perf_counter()
    acted = sum(play.step() for _ in range(HORIZON))
    return acted / (time.perf_counter() - start)


def blockers(_yardstick):
    """Measure the team battle with walls on a tenth of the cells, which hide things or not."""
    hiding, open_ = (Play(battle(walls=6, blocking=yes), WORLDS) for yes in (True, False))
    found = [{"hiding": rate(hiding.step), "open": rate(open_.step)} for _ in range(PAIRS)]
    show("with blockers / without", ratios(found, "hiding", "open"), ">= 0.333")


STEP = """
from abmarl.examples import team_battle
vec = team_battle().vectorize(1024, seed=0, horizon=200)
vec.reset()
vec.step(vec.sample_actions())
"""
QUIET_IMPORT = """
import abmarl, sys
print("numba" in sys.modules)
"""


def starts(folder):
    """How long processes take from their start to the end of the first step."""
    cold, warm, bare, imports = [], [], [], []
    for number in range(3):
        cache = str(folder / f"cache{number}")
        cold.append(process(STEP, cache)[0])
        warm.append(process(STEP, cache)[0])
        seconds, output = process(QUIET_IMPORT, cache)
        imports.append(seconds)
        bare.append(process("", cache)[0])
    show("cold start to the first step, s", cold, "< 20", "{:.2f}")
    show("warm start to the first step, s", warm, "< 2", "{:.2f}")
    wanted = f"< 0.7; numba imported: {output.strip()}"
    show("import abmarl, s (with Python's own start)", imports, wanted, "{:.2f}")
    show("  Python's own start, s", bare, form="{:.2f}")


def process(code, cache) -> tuple:
    """Wall time of a fresh Python process that runs some code, and what it printed."""
    environment = {**os.environ, "ABMARL_CACHE_DIR": cache}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    elapsed = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"A measured process failed:\n{done.stderr}")
    return elapsed, done.stdout


if __name__ == "__main__":
    sys.exit(main())
