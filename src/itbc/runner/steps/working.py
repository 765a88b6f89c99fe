"""Step 7: let the agent work."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from itbc.contracts.answer import Answer
from itbc.contracts.evaluation import Evaluation
from itbc.contracts.evidence import AgentRun
from itbc.contracts.shape import Shape, read
from itbc.providers.kubernetes.refs import Ref
from itbc.runner.agents import make_agent
from itbc.runner.failures import StepFailed
from itbc.runner.sandbox.answers import Unreadable, handed_in, parse_answer
from itbc.runner.sandbox.limits import Enclosure, Limits, enclosed
from itbc.runner.sandbox.network import parse
from itbc.runner.sandbox.programs import NoSandbox, OutOfTime, Sandbox
from itbc.runner.sandbox.redaction import Redaction
from itbc.runner.sandbox.view import Needs, view
from itbc.runner.sandbox.workplace import ANSWER, KUBECONFIG, TASK, Script, Workplace, Workspace
from itbc.runner.steps.access import Access
from itbc.runner.steps.identity import session_secret
from itbc.runner.steps.lending import lent, redaction
from itbc.runner.steps.reach import reach
from itbc.runner.surroundings import Surroundings

VARIABLES = {
    "alerts": "ITBC_ALERTMANAGER_URL",
    "logs": "ITBC_LOGS_URL",
    "metrics": "ITBC_PROMETHEUS_URL",
    "traces": "ITBC_TRACES_URL",
}
"""The environment variable that an agent finds a signal's base URL in: the first cluster's."""


class WorkingInput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who works, where, and for how many seconds.

    `hidden` and `secret` are the paths that would give the truth away (see `sandbox.view`); `memory` (bytes), `cpus`
    and `processes` are what the agent may use (see `sandbox.limits`). `variables` (names) and `addresses` (`HOST:PORT`)
    are what the user grants besides what the scenario does.
    """

    agent: str
    command: list[str]
    accesses: list[Access]
    workspace: str
    user: int
    seconds: float
    hidden: list[str]
    secret: list[str]
    memory: int
    cpus: float
    processes: int
    variables: list[str]
    addresses: list[str]


class WorkingOutput(Shape, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How it went, when the agent began and when it ended (RFC 3339)."""

    agent: AgentRun
    started: str
    ended: str


def working(step: WorkingInput, around: Surroundings) -> WorkingOutput:
    """Run the agent to its end or its time-out, which are both fine. Raises StepFailed where it can't be run at all."""
    limits = Limits(step.memory, step.cpus, step.processes)
    try:
        with enclosed(around.run.name, limits, around.ledger) as enclosure:
            done = _work(step, around, enclosure)
    except NoSandbox as wrong:
        raise StepFailed("environment", str(wrong), "run as root on a machine that allows namespaces") from wrong
    for access in step.accesses:
        # What it has left running in the cluster must not go on with its credentials.
        with around.cluster(access.cluster, access.kubeconfig) as client:
            client.delete(Ref.of(session_secret()))
    return done


def _work(step: WorkingInput, around: Surroundings, enclosure: Enclosure) -> WorkingOutput:
    workspace = Workspace(Path(step.workspace))
    lending = lent(step.variables, around)
    values = redaction(lending, around)
    sandbox = _sandbox(step, around, enclosure, lending, values)
    begin = around.patience.monotonic()
    workplace = Workplace(
        workspace=workspace,
        sandbox=sandbox,
        patience=around.patience,
        began=begin,
        deadline=begin + step.seconds,
        output=around.run.agent,
        run=around.run.path,
        say=around.say,
    )
    evaluation = read(around.run.artefacts / "evaluation.json", Evaluation)
    task = around.environment.task
    script = Script(
        repairs=around.environment.solution,
        mutants=around.environment.mutants,
        grants=task.grants,
        truth=evaluation.truth,
    )
    agent = make_agent(step.agent, step.command, script)
    started = around.now()
    code: int | None = None
    try:
        code = agent.work(workplace)
    except OutOfTime:
        around.tell("the agent's time is over")
    seconds = around.patience.monotonic() - begin
    answer, problem = _keep_answer(workspace, around.run.agent, values)
    run = AgentRun(
        name=step.agent,
        outcome="timeout" if code is None else "failed" if code else "finished",
        exit_code=code,
        seconds=round(seconds, 3),
        answer=answer,
        answer_problem=problem,
        limits_reached=enclosure.reached(),
        variables=step.variables,
        addresses=step.addresses,
    )
    return WorkingOutput(agent=run, started=_rfc3339(started), ended=_rfc3339(around.now()))


def _rfc3339(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def _keep_answer(workspace: Workspace, kept: Path, values: Redaction) -> tuple[Answer | None, str]:
    """Keep what was handed in, without the values: the workspace goes, the run folder stays.

    Returns the answer, and what is wrong with it (empty where nothing is).
    """
    try:
        data = handed_in(workspace.answer)
    except Unreadable as wrong:
        return None, str(wrong)
    if data is None:
        return None, ""
    data = values.data(data)
    (kept / ANSWER).write_bytes(data)
    answer, problem = parse_answer(data)
    # A value may have been written in yet another way that JSON understands.
    return None if answer is None else values.shape(answer), values.text(problem)


def _sandbox(
    step: WorkingInput, around: Surroundings, enclosure: Enclosure, lending: Mapping[str, str], values: Redaction
) -> Sandbox:
    workspace = Workspace(Path(step.workspace))
    environment = {
        **lending,
        "PATH": f"{workspace.programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(workspace.home),
        "LANG": "C.UTF-8",
        "USER": "agent",
        "KUBECONFIG": str(workspace.work / KUBECONFIG),
        "ITBC_GOAL": str(workspace.work / TASK),
        "ITBC_ANSWER": str(workspace.answer),
    }
    if step.accesses:
        first = step.accesses[0]
        environment |= {VARIABLES[signal]: url for signal, url in sorted(first.signals.items())}
    needs = Needs(
        folders=[workspace.root],
        programs=_programs(step.command),
        elsewhere=[(around.tools.kubectl, workspace.programs / "kubectl")],
    )
    return Sandbox(
        run=around.run.name,
        user=step.user,
        folder=workspace.work,
        environment=environment,
        # The cache has stacks that were compiled before: they would show a broken object's healthy self.
        view=view(
            needs, [*(Path(each) for each in step.hidden), around.home.cache], [Path(each) for each in step.secret]
        ),
        ledger=around.ledger,
        groups=enclosure.groups,
        network=reach(step.accesses, [parse(each) for each in step.addresses]),
        redaction=values,
    )


def _programs(command: list[str]) -> list[Path]:
    """The files that a command line names by absolute path."""
    return [Path(each) for each in command if each.startswith("/") and Path(each).is_file()]
