"""A run in a terminal: the verdicts with their reasons, how long each step took, and where the record is.

`rich` leaves colours and drawing out by itself where the output is no terminal.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from itbc.contracts.evidence import AgentRun
from itbc.contracts.record import Failure, Record, Step
from itbc.contracts.score import Score, Verdict
from itbc.results.naming import in_order, named
from itbc.results.records import Run

_ENDED = {"finished": "finished by itself", "timeout": "ran out of time", "failed": "failed"}


def render(run: Run, console: Console) -> None:
    """Print the summary of a run that is over, however it ended."""
    record = run.record
    console.print()
    console.print(Text(record.title, style="bold"))
    console.print(
        Text(
            f"scenario {record.scenario} · target {record.target} · agent {record.agent} · run {record.run}",
            style="dim",
        )
    )
    if record.masks:
        console.print(Text(f"masked for this run: {', '.join(record.masks)}", style="dim"))
    console.print()
    console.print(headline(record, run.score))
    if run.score is not None:
        _print_verdicts(run.score.verdicts, console)
    if run.evidence is not None:
        console.print(Text(_agent(run.evidence.agent)))
    if record.failure is not None:
        _print_failure(record.failure, console)
    if run.steps:
        console.print()
        console.print(_steps(run.steps))
    if not record.destroyed:
        console.print(Text("The environment still stands: itbc destroy or itbc gc removes it.", style="yellow"))
    console.print()
    console.print(Text(f"record: {run.folder / 'record.json'}"), soft_wrap=True)


def headline(record: Record, score: Score | None) -> Text:
    """The verdict in one line."""
    if score is None:
        if record.failure is None:
            return Text(f"UNFINISHED in {record.state}", style="bold yellow")
        whose = "the agent's" if record.failure.fault == "agent" else "not the agent's"
        return Text(
            f"NOT SCORED: {record.failure.stage} failed ({record.failure.fault}, {whose} doing)", style="bold yellow"
        )
    word, style = ("PASSED", "bold green") if score.passed else ("FAILED", "bold red")
    return Text.assemble(
        (word, style), f"  mitigation {score.mitigation:.2f} · diagnosis {score.diagnosis:.2f} ({named(score)})"
    )


def _print_verdicts(verdicts: Sequence[Verdict], console: Console) -> None:
    for verdict in in_order(verdicts):
        mark, style = ("ok", "green") if verdict.passed else ("no", "red")
        if not verdict.passed and verdict.value:
            mark, style = f"{verdict.value:.2f}", "yellow"
        console.print(
            Text.assemble((f"{mark:<5}", style), (f"{verdict.kind:<11}", "dim"), verdict.name), soft_wrap=True
        )
        console.print(Padding(Text(verdict.reason), (0, 0, 0, 5), expand=False))


def _agent(agent: AgentRun) -> str:
    code = "" if agent.exit_code in {None, 0} else f" with exit code {agent.exit_code}"
    answer = " It handed in no answer." if agent.answer is None else ""
    if agent.answer_problem:
        answer = f" Its answer can't be used: {agent.answer_problem}."
    if agent.limits_reached:
        answer += f" It wanted more {' and '.join(agent.limits_reached)} than it may have."
    if agent.variables or agent.addresses:
        answer += f" Beyond the scenario it was granted {', '.join([*agent.variables, *agent.addresses])}."
    return f"The agent {_ENDED[agent.outcome]}{code} after {agent.seconds:.1f} s.{answer}"


def _print_failure(failure: Failure, console: Console) -> None:
    where = ""
    if failure.origin is not None:
        where = f"{failure.origin.file}:{failure.origin.line}:{failure.origin.column}: "
    console.print()
    console.print(Text.assemble(("error: ", "bold red"), where, failure.message), soft_wrap=True)
    if failure.remedy:
        console.print(Text.assemble(("help: ", "bold"), failure.remedy), soft_wrap=True)


def _steps(steps: Sequence[Step]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for step in steps:
        state = {"done": Text(""), "failed": Text("failed", style="red"), "started": Text("unfinished", style="yellow")}
        seconds = "" if step.seconds is None else f"{step.seconds:.1f} s"
        table.add_row(escape(step.name), seconds, state[step.state])
    total = sum(step.seconds or 0.0 for step in steps)
    table.add_row(Text("all steps", style="dim"), Text(f"{total:.1f} s", style="dim"), "")
    return table
