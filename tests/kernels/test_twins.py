"""Every kernel against its naive twin, exactly, on random worlds."""

import ast
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

import abmarl.kernels
from tests.kernels.array_table import ARRAY_TABLE
from tests.kernels.code_table import CODE_TABLE
from tests.kernels.space_table import SPACE_TABLE
from tests.kernels.table import TABLE
from tests.kernels.worlds import Case, cases

SETTINGS = settings.get_profile("kernels")


def all_kernels():
    """Names of all functions that are decorated with ``@kernel``, from the sources."""
    found = set()
    for path in Path(abmarl.kernels.__file__).parent.glob("*.py"):
        if path.stem in ("program", "handoff"):
            continue  # they run other kernels; test_program.py is about them
        for node in ast.walk(ast.parse(path.read_text())):
            decorators = getattr(node, "decorator_list", ())
            if any(isinstance(one, ast.Name) and one.id == "kernel" for one in decorators):
                found.add(f"{path.stem}.{node.name}")
    return found


def test_every_kernel_is_in_a_table():
    tabled = {entry.kernel for entry in (*TABLE, *ARRAY_TABLE, *SPACE_TABLE, *CODE_TABLE)}
    missing, gone = all_kernels() - tabled, tabled - all_kernels()
    assert not missing, f"kernels without a naive twin in the tables: {sorted(missing)}"
    assert not gone, f"entries of the tables without a kernel: {sorted(gone)}"


def test_no_function_takes_more_than_eight_arguments():
    for path in Path(abmarl.kernels.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                assert len(node.args.args) <= 8, f"{path.name}: {node.name}; group what belongs"


def compare(entry, case):
    """Runs both sides of an entry on a case and compares all that they leave behind."""
    found = entry.engine(case)
    for b in range(case.num_worlds):
        assert found[b] == entry.twin(case, b), entry
        assert case.engine_state(b) == case.naive_state(b), entry


# One draw of a world serves all entries: drawing takes longer than comparing.
@settings(SETTINGS)
@given(given=cases())
def test_worlds(given):
    for entry in TABLE:
        if entry.suits(given[0]):
            compare(entry, Case(*given))


@pytest.mark.parametrize("entry", [*ARRAY_TABLE, *SPACE_TABLE, *CODE_TABLE], ids=str)
def test_arrays(entry):
    @settings(SETTINGS)
    @given(entry.inputs)
    def agree(given):
        assert entry.engine(given) == entry.twin(given)

    agree()


@pytest.mark.parametrize("entry", TABLE, ids=str)
def test_an_entry_runs_its_kernel(entry, monkeypatch):
    """The entry does not pass because it never reaches the kernel."""
    module, name = entry.kernel.split(".")
    kernel = getattr(sys.modules[f"abmarl.kernels.{module}"], name)
    calls = []

    def counted(*args):
        calls.append(name)
        return kernel(*args)

    for known in list(sys.modules.values()):
        if getattr(known, "__name__", "").startswith(("abmarl", "tests")):
            for attribute, value in list(vars(known).items()):
                if value is kernel:
                    monkeypatch.setattr(known, attribute, counted)

    @settings(SETTINGS, max_examples=30)
    @given(cases())
    def run(given):
        if not calls and entry.suits(given[0]):
            entry.engine(Case(*given))

    run()
    assert calls
