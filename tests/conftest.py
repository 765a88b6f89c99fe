"""What all tests share: the options of the test run and golden files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from itbc.stacks.toolchain import cache_folder, terraform_binary

Golden = Callable[[Path, str], None]

# How long an example takes says more of what else the machine does than of the code. The same examples every time:
# what fails, fails for everyone. `--hypothesis-profile=search` looks farther, and elsewhere each time.
settings.register_profile("itbc", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", settings.get_profile("itbc"), derandomize=False, max_examples=2000)
settings.load_profile("itbc")


@pytest.fixture(scope="session", autouse=True)
def _terraform_on_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whatever Terraform itbc would use here is what tests call `terraform`, also where there is none on PATH."""
    programs = tmp_path_factory.mktemp("programs")
    (programs / "terraform").symlink_to(terraform_binary(cache_folder(), lambda _line: None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(programs), prepend=os.pathsep)
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write golden files anew instead of comparing with them"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """`golden(path, text)` fails where the file doesn't hold the text; with --update-golden it writes it."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(path: Path, text: str) -> None:
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"{path.name} is missing: run pytest with --update-golden and look at what it wrote"
        assert text == path.read_text(encoding="utf-8"), (
            f"{path.name} differs: run with --update-golden if that is meant"
        )

    return compare


@pytest.fixture(scope="session")
def terraform_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment for calling Terraform that doesn't depend on the machine's settings."""
    settings = tmp_path_factory.mktemp("terraform") / "settings.tfrc"
    settings.write_text("disable_checkpoint = true\n", encoding="utf-8")
    return {**os.environ, "TF_CLI_CONFIG_FILE": str(settings)}
