"""Takes down what dead or expired runs left: by Terraform where a state is, by the ledger in any case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from itbc.contracts.shape import ContractError
from itbc.runner.failures import StepFailed
from itbc.runner.leftovers import lease
from itbc.runner.leftovers.ledger import Entry, FileLedger, holder, leftovers
from itbc.runner.leftovers.sweeping import sweep
from itbc.runner.processes import own_identity
from itbc.runner.session import Workshop, close, reopen
from itbc.runner.steps.destroying import DestroyingOutput


@dataclass(frozen=True, slots=True)
class Found:
    """A run that a reaper may take: why, and what may be left of it."""

    run: str
    why: str
    left: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Reaped:
    """What became of a run that was taken."""

    run: str
    why: str
    removed: tuple[str, ...]
    remaining: tuple[str, ...]
    problems: tuple[str, ...]


def dead_runs(workshop: Workshop) -> Iterator[Found]:
    """The runs whose process is gone or whose time is over, the oldest first. Nothing is changed."""
    for path in sorted(workshop.home.ledgers.glob("*.jsonl")):
        held = lease.take(workshop.home.ledgers, path.stem)
        if held is None:
            continue
        with held:
            why = _why(path, workshop.now())
            if why:
                yield Found(path.stem, why, tuple(leftovers(path)))


def reap(workshop: Workshop) -> Iterator[Reaped]:
    """Take down every dead run, one after the other. Never raises for one that can't be: it is told."""
    for found in list(dead_runs(workshop)):
        held = lease.take(workshop.home.ledgers, found.run)
        if held is None:
            continue
        with held:
            if _why(workshop.home.ledger(found.run), workshop.now()):
                yield _take(workshop, found)


def _why(path: Path, now: datetime) -> str:
    """Why a run whose lease is free may be taken; empty where it may not."""
    line = holder(path)
    if line is None:
        return "its ledger says nothing of an owner"
    if now >= datetime.fromisoformat(line.expires):
        return f"it expired at {line.expires}"
    if line.event == "held":
        return f"its process {line.owner} is gone"
    return ""


def _take(workshop: Workshop, found: Found) -> Reaped:
    try:
        life = reopen(workshop, found.run)
    except (StepFailed, ContractError):
        return _sweep_only(workshop, found)
    before = {f"{each.kind} {each.identity}" for each in leftovers(workshop.home.ledger(found.run))}
    life.failed(StepFailed("interrupted", f"the run was given up because {found.why}"))
    ended: DestroyingOutput = life.take_down()
    life.over()
    close(life)
    removed = sorted(before - set(ended.remaining))
    return Reaped(found.run, found.why, tuple(removed), tuple(ended.remaining), tuple(ended.problems))


def _sweep_only(workshop: Workshop, found: Found) -> Reaped:
    """A run that was killed before it had a record, or whose folder is gone: only the ledger knows of it."""
    path = workshop.home.ledger(found.run)
    ledger = FileLedger(path, own_identity(), workshop.now().isoformat(timespec="seconds"))
    swept = sweep(leftovers(path), workshop.tools.sweepers, ledger)
    remaining = tuple(f"{each.kind} {each.identity}" for each in leftovers(path))
    if not remaining:
        path.unlink()
        lease.lease_path(workshop.home.ledgers, found.run).unlink(missing_ok=True)
    return Reaped(found.run, found.why, tuple(swept.removed), remaining, tuple(swept.failed))
