"""The command line: one verb a file."""

from __future__ import annotations

import importlib
import sys
import traceback

import click

from itbc import __version__
from itbc.cli.exits import Exit, ExitError

VERBS = {
    "check": "Check scenario files and everything they import.",
    "fmt": "Rewrite .itb files in the one canonical layout.",
    "compile": "Compile a scenario into an artefact folder.",
    "doctor": "Say what this machine lacks, and what to do about it.",
    "apply": "Bring a scenario's environment up, healthy.",
    "inject": "Break a healthy environment and wait for its alerts.",
    "run": "Live one scenario's whole life with an agent, and score it.",
    "evaluate": "Score a run again from its files alone.",
    "report": "Write one HTML page about a run.",
    "destroy": "Take a run's environment down, whatever state it is in.",
    "verify": "Prove that a scenario works: no-op fails, solution passes, cheats fail.",
    "gc": "Remove what dead or expired runs left behind.",
}
"""Each verb `x-y` is the click command `command` of `itbc.cli.x_y`, imported only when it is used."""


class Verbs(click.Group):
    """A group that imports a verb's file when the verb is called, so that `itbc check` doesn't pay for `itbc run`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All verbs in the order of a scenario's life."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The verb's command, or None for an unknown name."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"itbc.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of verbs, without importing any."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="itbc")
def program() -> None:
    """Compile, provision, run and judge IT-operations scenarios.

    Example: itbc run scenarios/sre/checkout-wrong-payment-address --agent noop
    """


def main(arguments: list[str] | None = None) -> int:
    """Run the program. Returns the exit code (see `exits.Exit`); never lets an exception out."""
    try:
        code = program.main(args=arguments, prog_name="itbc", standalone_mode=False)
    except click.UsageError as wrong:
        wrong.show()
        return Exit.USAGE
    except click.exceptions.Abort:
        click.echo("itbc: interrupted", err=True)
        return Exit.OUTSIDE
    except ExitError as ending:
        if ending.message:
            click.echo(f"error: {ending.message}", err=True)
        if ending.remedy:
            click.echo(f"  help: {ending.remedy}", err=True)
        return ending.code
    except Exception:  # noqa: BLE001 - the last line of defence: a bug is reported as one, with what a report needs
        traceback.print_exc(file=sys.stderr)
        click.echo("itbc: this is a bug in itbc, not in your scenario; please report it with the lines above", err=True)
        return Exit.BUG
    return code if isinstance(code, int) else Exit.FINE
