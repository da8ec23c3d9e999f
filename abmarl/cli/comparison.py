"""One run of ``abmarl evaluate``: the matches, the tables, the files."""

import csv
import io
import json
import math
import os
import sys
from collections.abc import Callable
from typing import Any

from abmarl.cli.errors import UserError, brief, for_the_user
from abmarl.cli.exit_codes import DONE, INTERRUPTED
from abmarl.cli.report import print_grid, print_table
from abmarl.render.films.partial import PartialFile
from abmarl.rollout.cross_play import CrossPlay, Match, cross_play
from abmarl.rollout.evaluation import CONFIDENCE, Interval


class Comparison:
    """Plays every combination of policies and tells how they went.

    Args:
        vec: The vectorised simulation.
        name: What to call it.
        policies: group -> label -> policy.
        episodes: How many episodes of each combination.
        seed: Seed of each combination.
        save: Where the numbers go, or None.
        plot: Where the picture goes, or None.

    Raises:
        UserError: There is nothing to be drawn.
    """

    def __init__(
        self,
        vec: Any,
        name: str,
        policies: dict[str, dict[str, Any]],
        episodes: int,
        seed: int,
        save: str | None,
        plot: str | None,
    ) -> None:
        self.vec, self.name, self.policies = vec, name, policies
        self.episodes, self.seed, self.save, self.plot = episodes, seed, save, plot
        several = [group for group, choices in policies.items() if len(choices) > 1]
        if plot and (len(policies) < 2 or not 1 <= len(several) <= 2):
            raise UserError(
                "--plot draws policies of one group against those of another one: give one or two "
                f"groups several policies; the groups are {', '.join(map(repr, policies))}"
            )

    def run(self) -> int:
        """Do it.

        Returns:
            The exit code.

        Raises:
            UserError: The simulation fails, or a file could not be written.
        """
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
        return self._keep(found)

    def _print_match(self, match: Match) -> None:
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

    def _print_all(self, found: CrossPlay) -> None:
        if found.axes is not None:
            self._print_matrix(found)
            return
        rows = {
            ", ".join(f"{group}={label}" for group, label in match.labels.items()): [
                str(match.result.returns[group]) for group in self.policies
            ]
            for match in found.matches
        }
        title = f"{self.name}: {_played(found)}, mean return [95 % interval]"
        print_grid(title, "policies", list(self.policies), rows)

    def _print_matrix(self, found: CrossPlay) -> None:
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
        title = f"{self.name}: {_played(found)}, {what} of {rows} [95 % interval]"
        print_grid(title, f"{rows} against {columns}", found.entrants[columns], cells)

    def _keep(self, found: CrossPlay) -> int:
        """Write the files and say what was kept."""
        kept, lost = [], []
        if found.matches:
            writers: list[tuple[str, str | None, Callable]] = [
                ("--save", self.save, self._save), ("--plot", self.plot, self._draw)
            ]  # fmt: skip
            for option, path, write in writers:
                if path is None:
                    continue
                # Each file is tried even if another one failed.
                try:
                    write(found)
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

    def _how_far(self, found: CrossPlay) -> str:
        if not found.matches:
            return "interrupted: no episode was finished"
        done = sum(len(match.result) for match in found.matches)
        text = f"interrupted after {done:,} of {found.wanted * self.episodes:,} episodes"
        if not found.matches[-1].result.interrupted:
            return text
        last = " of the last combination" if found.wanted > 1 else ""
        return f"{text}; what was finished{last} over-represents short episodes"

    def _save(self, found: CrossPlay) -> None:
        if os.path.splitext(self.save)[1].lower() == ".json":
            text = json.dumps(self._document(found), indent=1, allow_nan=False) + "\n"
        else:
            lines = [_flat(_numbers(match)) for match in found.matches]
            table = io.StringIO()
            writer = csv.DictWriter(table, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
            text = table.getvalue()
        file = PartialFile(self.save)
        try:
            file.write(text.encode())
            file.keep()
        except BaseException:
            file.discard()
            raise

    def _document(self, found: CrossPlay) -> dict[str, Any]:
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

    def _draw(self, found: CrossPlay) -> None:
        from abmarl.render import plot_matrix

        rows, columns = found.axes
        # Prey that cannot kill its hunters never wins, whoever plays it.
        wins = found.has_wins and found.matrix("win rate").any()
        what = "win rate" if wins else "return"
        plot_matrix(
            self.plot,
            found.matrix(what),
            _short(found.entrants[rows]),
            _short(found.entrants[columns]),
            title=f"{self.name}: {what} of {rows}",
            xlabel=columns,
            ylabel=rows,
            limits=(0, 1) if wins else None,
        )


def _played(found: CrossPlay) -> str:
    """How many episodes there are of each combination."""
    counts = [len(match.result) for match in found.matches]
    if len(set(counts)) == 1:
        return f"{counts[0]:,} episodes each"
    return f"{sum(counts):,} episodes, {max(counts, default=0):,} each at most"


def _short(labels: list[str]) -> list[str]:
    """Names of files without their folders, where these are told apart."""
    names = [os.path.basename(label.rstrip(os.sep)) for label in labels]
    return names if len(set(names)) == len(names) else labels


def _numbers(match: Match) -> dict[str, Any]:
    """What is saved of a match."""
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


def _sides(interval: Interval) -> dict[str, float | None]:
    sides = {"mean": interval.value, "low": interval.low, "high": interval.high}
    return {name: None if math.isnan(side) else side for name, side in sides.items()}


def _flat(nested: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Nested dicts as one, with the keys joined by dots."""
    found = {}
    for key, value in nested.items():
        if isinstance(value, dict):
            found.update(_flat(value, f"{before}{key}."))
        else:
            found[f"{before}{key}"] = value
    return found
