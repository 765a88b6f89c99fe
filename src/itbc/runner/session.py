"""Opens a run for one command: its lease, its ledger, its surroundings."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from itbc.contracts.mask import Mask, parse_mask
from itbc.contracts.record import Record
from itbc.contracts.shape import ContractError, read, write
from itbc.runner.artefacts import Artefacts, copy, load
from itbc.runner.failures import StepFailed
from itbc.runner.home import Home, RunFolder, new_run_name
from itbc.runner.journal import Journal
from itbc.runner.leftovers import lease
from itbc.runner.leftovers.ledger import FileLedger, leftovers
from itbc.runner.life import Life
from itbc.runner.observer import Observer
from itbc.runner.processes import own_identity
from itbc.runner.surroundings import Surroundings, Tools
from itbc.runner.waiting import Patience

LIFETIME = timedelta(hours=12)
"""How long a run's environment may stand before anyone may remove it."""

_RUN_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[a-z0-9]{4}")


@dataclass(frozen=True, slots=True)
class Workshop:
    """What one command works with, whatever run it is about."""

    home: Home
    tools: Tools
    variables: Mapping[str, str]
    observer: Observer
    patience: Patience
    last_patience: Patience
    now: Callable[[], datetime]
    random: random.Random


@contextmanager
def new_run(
    workshop: Workshop, artefacts: Artefacts, agent: str, seed: int, masks: Sequence[Mask] = ()
) -> Generator[Life]:
    """Make a run and hold its lease while the block runs. From here on a reaper knows of it."""
    created = workshop.now()
    expires = _rfc3339(created + LIFETIME)
    name = new_run_name(created, workshop.random)
    run = workshop.home.run(name)
    with lease.take_or_fail(workshop.home.ledgers, name):
        ledger = FileLedger(workshop.home.ledger(name), own_identity(), expires)
        ledger.held()
        run.create()
        copy(artefacts, run.artefacts)
        record = Record(
            run=name,
            scenario=artefacts.manifest.scenario,
            title=artefacts.manifest.title,
            persona=artefacts.manifest.persona,
            target=artefacts.manifest.target,
            agent=agent,
            artefacts="artefacts",
            seed=seed,
            created=_rfc3339(created),
            expires=expires,
            state="queued",
            destroyed=True,
            masks=[str(mask) for mask in sorted(set(masks))],
        )
        write(run.record, record)
        yield _life(workshop, load(run.artefacts), record, ledger)


@contextmanager
def open_run(workshop: Workshop, name: str, allow: Callable[[Journal], None] | None = None) -> Generator[Life]:
    """Go on with a run and hold its lease while the block runs.

    Raises StepFailed where there is no such run, and what `allow` raises for
    it; its ledger is as it was then.
    """
    run = workshop.home.run(checked_name(name))
    try:
        read(run.record, Record)
    except ContractError as wrong:
        raise StepFailed("input", f"there is no run {name}: {wrong}", f"look into {workshop.home.runs}") from wrong
    had_ledger = workshop.home.ledger(name).exists()
    with lease.take_or_fail(workshop.home.ledgers, name):
        if allow is not None:
            try:
                allow(_journal(workshop, run))
            except StepFailed:
                if not had_ledger:
                    lease.lease_path(workshop.home.ledgers, name).unlink(missing_ok=True)
                raise
        yield reopen(workshop, name)


def reopen(workshop: Workshop, name: str) -> Life:
    """The life of an existing run, for one who holds its lease. Raises StepFailed or ContractError."""
    run = workshop.home.run(name)
    record = read(run.record, Record)
    ledger = FileLedger(workshop.home.ledger(name), own_identity(), record.expires)
    ledger.held()
    return _life(workshop, load(run.artefacts), record, ledger)


def checked_name(name: str) -> str:
    """A run's name as the user gave it. Raises StepFailed for what can't be one."""
    if not _RUN_NAME.fullmatch(name):
        raise StepFailed("input", f"{name!r} is no run's name", "run names look like 20261201-101500-ab12")
    return name


def keep(life: Life) -> None:
    """Say that the run is left standing on purpose, so that a reaper waits until it expires."""
    life.around.ledger.kept()


def close(life: Life) -> None:
    """Put the ledger of a run of which nothing is left into its folder, where no reaper looks.

    One whose end couldn't be written down is left to a reaper, which says then that it was given up.
    """
    around = life.around
    path = around.home.ledger(around.run.name)
    if leftovers(path) or life.journal.unsaved:
        return
    kept = around.run.path / "ledger.jsonl"
    if kept.exists():
        # The run was opened again after its end, for instance to destroy it twice: what was known stays.
        with kept.open("ab") as file:
            file.write(path.read_bytes())
        path.unlink()
    else:
        path.replace(kept)
    lease.lease_path(around.home.ledgers, around.run.name).unlink(missing_ok=True)


def _life(workshop: Workshop, artefacts: Artefacts, record: Record, ledger: FileLedger) -> Life:
    run = workshop.home.run(record.run)
    around = Surroundings(
        home=workshop.home,
        run=run,
        environment=artefacts.environment,
        origins=artefacts.manifest.origins,
        expires=record.expires,
        own_masks=[parse_mask(each) for each in record.masks],
        tools=workshop.tools,
        ledger=ledger,
        patience=workshop.patience,
        last_patience=workshop.last_patience,
        now=workshop.now,
        tell=workshop.observer.note,
        say=workshop.observer.say,
        variables=workshop.variables,
    )
    return Life(around, _journal(workshop, run))


def _journal(workshop: Workshop, run: RunFolder) -> Journal:
    return Journal(run, workshop.now, workshop.patience.monotonic, workshop.observer)


def _rfc3339(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
