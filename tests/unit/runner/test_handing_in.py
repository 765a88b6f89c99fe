from __future__ import annotations

from pathlib import Path

from itbc.runner.sandbox.answers import handed_in
from itbc.runner.sandbox.workplace import Workplace, Workspace


def test_an_answer_isnt_written_through_a_link_of_the_agents(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "agent")
    workspace.work.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("as it was")
    workspace.answer.symlink_to(victim)
    place = Workplace.__new__(Workplace)
    object.__setattr__(place, "workspace", workspace)
    place.hand_in([], "nothing")
    assert victim.read_text() == "as it was"
    assert b"nothing" in (handed_in(workspace.answer) or b"")
