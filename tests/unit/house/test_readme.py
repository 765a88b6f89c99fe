"""What the README shows is what the program does."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from itbc.providers import faults

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "scenarios", folder / "scenarios")
    return folder


def check(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "scenarios" / "readme.itb").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "itbc.cli", "check", "scenarios/readme.itb"],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )


def test_the_scenario_is_right_and_says_so(checkout: Path):
    (scenario,) = blocks("hcl")
    result = check(checkout, scenario)
    assert (result.returncode, result.stdout) == (0, blocks("text")[0])


def test_the_mistake_is_reported_as_shown(checkout: Path):
    (scenario,) = blocks("hcl")
    wrong = scenario.replace(
        "root_causes = [cluster.shop.deployment.checkout]", "root_causes = [cluster.shop.deployment.payment]"
    )
    result = check(checkout, wrong.replace('["checkout", "frontend"]', '["payment", "checkout", "frontend"]'))
    assert result.returncode == 1
    assert blocks("text")[1] in result.stdout + result.stderr


def test_it_names_every_verb():
    verbs = subprocess.run(
        [sys.executable, "-m", "itbc.cli", "--help"], check=True, capture_output=True, text=True
    ).stdout.partition("Verbs:")[2]
    for verb in re.findall(r"^  (\S+) ", verbs, re.MULTILINE):
        assert re.search(rf"`(itbc )?{verb}\b", README), f"README doesn't name itbc {verb}"


NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def test_it_counts_families_and_scenarios_as_they_are():
    files = [path.stem for path in Path(faults.__file__).parent.glob("*.py") if path.stem != "__init__"]
    harmless = {
        kind.changes.__module__.rpartition(".")[2] for kind in faults.catalogue().faults.values() if kind.benign
    }
    scenarios = list((ROOT / "scenarios" / "sre").glob("*/scenario.itb"))
    assert f"| faults | {NUMBERS[len(files) - len(harmless)]} families " in README
    assert f"| scenarios | {NUMBERS[len(scenarios)]} for SRE " in README


def test_a_shipped_scenario_is_called_as_its_folder():
    for file in (ROOT / "scenarios").glob("*/*/scenario.itb"):
        assert f'\nscenario "{file.parent.name}" {{\n' in file.read_text(), file


def test_it_stays_short():
    assert len(README.splitlines()) < 200
