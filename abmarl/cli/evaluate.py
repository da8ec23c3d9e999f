"""``abmarl evaluate``: how good policies are, alone or against each other."""

import csv
import io
import json
import math
import os
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from abmarl.cli import options
from abmarl.cli.console import (
    DONE,
    INTERRUPTED,
    UserError,
    brief,
    check_outputs,
    for_the_user,
    prepare_outputs,
)
from abmarl.cli.inputs import load_policies, name_of_simulation, names_of_policies, vectorized
from abmarl.files import replacing
from abmarl.terminal import print_table

EXAMPLES = {
    "abmarl evaluate team-battle --policy red=heuristic": "1000 battles, with win rates",
    "abmarl evaluate foraging --policy forager=ppo.zip -n 200 --save ppo.json": (
        "200 episodes of a trained policy"
    ),
    "abmarl evaluate predator-prey-resources --policy predator=a.zip --policy predator=b.zip "
    "--policy prey=random --policy prey=c.zip --plot cross.png": (
        "every predator against every prey, as a table and a picture"
    ),
}
SUFFIXES = {"--save": (".json", ".csv"), "--plot": (".png",)}


def evaluate(
    sim: options.Sim,
    policy: options.Policies = None,
    episodes: Annotated[
        int,
        typer.Option("--episodes", "-n", min=1, metavar="N", help="Episodes of each combination."),
    ] = 1000,
    num_envs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Worlds to run at once, at most.")
    ] = 1024,
    horizon: options.Horizon = 200,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    order: options.Order = "fixed",
    trust: options.Trust = False,
    sample: options.Sample = False,
    save: Annotated[
        str | None, typer.Option(metavar="FILE", help="Save the numbers: .json, or .csv.")
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.png",
            help="Draw the cross-play of two groups, of which one at least has several policies. "
            "Needs abmarl[render].",
        ),
    ] = None,
) -> int:
    """Play a number of episodes and tell how good the policies are, with 95 % intervals.

    The episodes are shared out to the worlds beforehand, so that short ones are not favoured. With
    several policies for a group, every combination is played from the same seed. Ctrl-C stops
    early and reports what was finished.
    """
    outputs = {"--save": save, "--plot": plot}
    check_outputs(outputs, SUFFIXES)
    vec = vectorized(sim, min(num_envs, episodes), seed, horizon, threads, order)
    policies = load_policies(vec, names_of_policies(vec, policy or []), trust, sample, seed)
    comparison = Comparison(vec, name_of_simulation(sim), policies, episodes, seed, save, plot)
    prepare_outputs(outputs)
    return comparison.run()


@dataclass
class Comparison:
    """Play every combination of policies, print the results and write the files.

    Args:
        vec: The vectorised simulation.
        name: The name of the simulation.
        policies: group -> label -> policy.
        episodes: How many episodes of each combination.
        seed: The seed of each combination.
        save: Where the numbers go, or None.
        plot: Where the picture goes, or None.

    Raises:
        UserError: There is nothing to draw.
    """

    vec: Any
    name: str
    policies: dict[str, dict[str, Any]]
    episodes: int
    seed: int
    save: str | None
    plot: str | None

    def __post_init__(self) -> None:
        several = [group for group, choices in self.policies.items() if len(choices) > 1]
        if self.plot and (len(self.policies) < 2 or not 1 <= len(several) <= 2):
            raise UserError(
                "--plot draws policies of one group against those of another one: give one or two "
                f"groups several policies; the groups are {', '.join(map(repr, self.policies))}"
            )

    def run(self) -> int:
        """Play.

        Returns:
            The exit code.

        Raises:
            UserError: The simulation fails, or a file could not be written.
        """
        from abmarl.rollout import cross_play

        with for_the_user():
            found = cross_play(
                self.vec, self.policies, self.episodes, seed=self.seed, name=self.name
            )
        if found.wanted == 1:
            for match in found.matches:
                self._print_match(match)
        else:
            self._print_all(found)
        sys.stdout.flush()
        return self._write(found)

    def _print_match(self, match: Any) -> None:
        result = match.result
        rows = [
            (f"return, {group} ({_short([label])[0]})", str(result.returns[group]))
            for group, label in match.labels.items()
        ]
        rows += [(f"wins, {result.team_names[t]}", str(share)) for t, share in result.wins.items()]
        if result.draws is not None:
            rows.append(("draws", str(result.draws)))
        rows.append(("length", str(result.length)))
        rows.append(("truncated", str(result.truncated_share)))
        print_table(f"{self.name}: {len(result):,} episodes, mean [95 % interval]", rows)

    def _print_all(self, found: Any) -> None:
        if found.axes is not None:
            self._print_matrix(found)
            return
        rows = [
            [
                ", ".join(f"{group}={label}" for group, label in match.labels.items()),
                *(str(match.result.returns[group]) for group in self.policies),
            ]
            for match in found.matches
        ]
        title = f"{self.name}: {_count(found)}, mean return [95 % interval]"
        print_table(title, rows, ["policies", *self.policies])

    def _print_matrix(self, found: Any) -> None:
        rows, columns = found.axes
        what = "mean return and win rate" if found.has_wins else "mean return"
        cells = {row: [""] * len(found.entrants[columns]) for row in found.entrants[rows]}
        for match in found.matches:
            result = match.result
            text = str(result.returns[rows])
            if found.has_wins:
                text += f", {result.wins[found.teams[rows]].value:.0%}"
            place = found.entrants[columns].index(match.labels[columns])
            cells[match.labels[rows]][place] = text
        title = f"{self.name}: {_count(found)}, {what} of {rows} [95 % interval]"
        print_table(
            title,
            [[row, *line] for row, line in cells.items()],
            [f"{rows} against {columns}", *found.entrants[columns]],
        )

    def _write(self, found: Any) -> int:
        """Write the files, report which, and return the exit code."""
        kept, lost = [], []
        if found.matches:
            for option, path, write in (
                ("--save", self.save, self._save), ("--plot", self.plot, self._draw)
            ):  # fmt: skip
                if path is None:
                    continue
                # Each file is tried even if another one failed.
                try:
                    write(found, path)
                    kept.append(path)
                except (OSError, MemoryError, ValueError) as error:
                    lost.append(f"{option}: {brief(error)}")
        if kept:
            print(f"wrote {', '.join(kept)}", file=sys.stderr)
        if found.interrupted:
            for line in lost:
                print(line, file=sys.stderr)
            print(self._how_far(found), file=sys.stderr)
            return INTERRUPTED
        if lost:
            raise UserError("\n".join(lost))
        return DONE

    def _how_far(self, found: Any) -> str:
        if not found.matches:
            return "interrupted: no episode was finished"
        done = sum(len(match.result) for match in found.matches)
        text = f"interrupted after {done:,} of {found.wanted * self.episodes:,} episodes"
        if not found.matches[-1].result.interrupted:
            return text
        last = " of the last combination" if found.wanted > 1 else ""
        return f"{text}; what was finished{last} over-represents short episodes"

    def _save(self, found: Any, path: str) -> None:
        if path.lower().endswith(".json"):
            text = json.dumps(self._document(found), indent=1, allow_nan=False) + "\n"
        else:
            lines = [_flat(_numbers(match)) for match in found.matches]
            table = io.StringIO()
            writer = csv.DictWriter(table, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
            text = table.getvalue()
        with replacing(path) as file:
            file.write(text.encode())

    def _document(self, found: Any) -> dict[str, Any]:
        from abmarl.rollout.evaluation import CONFIDENCE

        vec = self.vec
        return {
            "simulation": self.name,
            "seed": self.seed,
            "horizon": vec.horizon,
            "order": vec.order,
            "num_envs": vec.num_envs,
            "episodes": self.episodes,
            "confidence": CONFIDENCE,
            "interrupted": found.interrupted,
            "matches": [_numbers(match) for match in found.matches],
        }

    def _draw(self, found: Any, path: str) -> None:
        from abmarl.render import plot_matrix

        rows, columns = found.axes
        # Prey that cannot kill its hunters never wins, whoever plays it.
        wins = found.has_wins and found.matrix("win rate").any()
        what = "win rate" if wins else "return"
        plot_matrix(
            path,
            found.matrix(what),
            _short(found.entrants[rows]),
            _short(found.entrants[columns]),
            title=f"{self.name}: {what} of {rows}",
            xlabel=columns,
            ylabel=rows,
            limits=(0, 1) if wins else None,
        )


def _count(found: Any) -> str:
    """Return how many episodes there are of each combination, in words."""
    counts = [len(match.result) for match in found.matches]
    if len(set(counts)) == 1:
        return f"{counts[0]:,} episodes each"
    return f"{sum(counts):,} episodes, {max(counts, default=0):,} each at most"


def _short(labels: list[str]) -> list[str]:
    """Return names of files without their folders, if they still differ then."""
    names = [os.path.basename(label.rstrip(os.sep)) for label in labels]
    return names if len(set(names)) == len(names) else labels


def _numbers(match: Any) -> dict[str, Any]:
    """Return what is saved of a match."""
    result = match.result
    found = {
        "policies": match.labels,
        "episodes": len(result),
        "returns": {group: _sides(one) for group, one in result.returns.items()},
        "length": _sides(result.length),
        "truncated": _sides(result.truncated_share),
    }
    if result.draws is not None:
        found["wins"] = {result.team_names[t]: _sides(one) for t, one in result.wins.items()}
        found["draws"] = _sides(result.draws)
    return found


def _sides(interval: Any) -> dict[str, float | None]:
    sides = {"mean": interval.value, "low": interval.low, "high": interval.high}
    return {name: None if math.isnan(side) else side for name, side in sides.items()}


def _flat(nested: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested dicts as one, with the keys joined by dots."""
    found = {}
    for key, value in nested.items():
        if isinstance(value, dict):
            found.update(_flat(value, f"{before}{key}."))
        else:
            found[f"{before}{key}"] = value
    return found
