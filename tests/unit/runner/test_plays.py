from __future__ import annotations

import json
from pathlib import Path

import pytest

from itbc.runner.outside.plays import PlayFailed, Plays
from itbc.runner.waiting import Patience

CANARY = "sk-plays-0123456789"


@pytest.fixture
def plays(tmp_path: Path) -> Plays:
    project = tmp_path / "compiled" / "project"
    (tmp_path / "compiled" / "inventory").mkdir(parents=True)
    (tmp_path / "compiled" / "inventory" / "hosts.yaml").write_text('{"all": {"hosts": {"here": {}}}}')
    project.mkdir()
    (project / "ansible.cfg").write_text("[defaults]\n")
    task = {"name": "see it", "ansible.builtin.assert": {"that": "lookup('env', 'KEY') == wanted"}, "no_log": True}
    play = {"hosts": "here", "gather_facts": False, "connection": "local", "tasks": [task]}
    (project / "play.yml").write_text(json.dumps([play]))
    (tmp_path / "private").mkdir()
    return Plays(tmp_path / "compiled", tmp_path / "private", Patience())


def _run(plays: Plays, wanted: str) -> None:
    plays.run(
        "one", ["play.yml"], {"wanted": wanted}, on_playbook=lambda _number: None, tell=lambda _text: None, seconds=60
    )


def test_the_users_environment_reaches_the_plays_and_is_written_nowhere(
    plays: Plays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", CANARY)
    with pytest.raises(PlayFailed):
        _run(plays, "another")
    monkeypatch.setenv("KEY", f"{CANARY}-b")
    (plays.compiled / "project" / "play.yml").write_text(
        (plays.compiled / "project" / "play.yml").read_text().replace("== wanted", "== 'sk-plays' ~ wanted")
    )
    plays.run(
        "two", ["play.yml"], {"wanted": "-0123456789-b"}, on_playbook=lambda _: None, tell=lambda _: None, seconds=60
    )
    kept = [path for path in plays.private.rglob("*") if path.is_file()]
    assert any(path.name == "stdout" for path in kept)
    for path in kept:
        assert CANARY not in path.read_text(errors="replace"), path
    assert not list(plays.private.glob("artifacts/*/command"))
