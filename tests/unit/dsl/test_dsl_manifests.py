from __future__ import annotations

from pathlib import Path

import pytest

from itbc.dsl.check.manifests import files_of, read
from itbc.dsl.diagnostics import Sink
from itbc.dsl.loading import Loader, read_text
from itbc.dsl.model import DeclaredObject
from itbc.dsl.source import SourceFile, Span

PLACE = Span(SourceFile("x.itb", "x"), 0, 1)


def objects(folder: Path, text: str | bytes) -> tuple[list[DeclaredObject], list[str], bool]:
    file = folder / "m.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    sink = Sink()
    found, whole = read(file, "shop", Loader(sink, read_text, folder, "."), PLACE, sink)
    said = [
        f"{each.code.id} {each.span.source.position(each.span.start)[0]} {each.labels[0].message}"
        for each in sink.diagnostics
    ]
    return found, said, whole


def test_documents_and_lists_are_taken_apart(tmp_path: Path):
    found, said, whole = objects(
        tmp_path,
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n# nothing\n---\n"
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: b}\n",
    )
    assert said == []
    assert whole
    assert [(each.ref.kind, each.ref.name, each.ref.namespace) for each in found] == [
        ("ConfigMap", "a", "shop"),
        ("Secret", "b", "shop"),
    ]
    assert [each.span.source.position(each.span.start)[0] for each in found] == [2, 11]


def test_values_are_what_kubernetes_takes_them_for(tmp_path: Path):
    found, _, _ = objects(
        tmp_path,
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
        "data: {day: 2026-12-01, time: 12:30:00, yes: yes, number: 12, hex: 0x10, float: 1.5, exp: 1e3, "
        "version: 1.2.3, none: ~}\n",
    )
    data = found[0].manifest["data"]
    assert data["day"] == "2026-12-01"
    assert data["time"] == "12:30:00"
    assert (data["number"], data["hex"], data["float"], data["exp"], data["version"], data["none"]) == (
        12,
        16,
        1.5,
        1000.0,
        "1.2.3",
        None,
    )


def test_objects_of_the_cluster_have_no_namespace(tmp_path: Path):
    found, said, _ = objects(
        tmp_path, "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n"
    )
    assert said == []
    assert found[0].ref.namespace == ""
    assert "namespace" not in found[0].manifest["metadata"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\nb: 2\n", "ITB502 2"),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nkind: Secret\n",
            "ITB502 4 the key `kind` is given twice",
        ),
        ("a: &x [*x]\n", "ITB502 1"),
        ("? [a]\n: b\n", "ITB502 1 a key must be a string"),
        ("a: !!python/object/apply:os.system ['true']\n", "ITB502 1"),
        ("- a\n- b\n", "ITB503 1 this document isn't a mapping"),
        ("just text\n", "ITB503 1 this document isn't a mapping"),
        ("kind: ConfigMap\nmetadata: {name: a}\n", "ITB503 1 `apiVersion` is missing"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: a\n", "ITB503 1 `metadata.name` is missing"),
        ("apiVersion: v1\nkind: 5\nmetadata: {name: a}\n", "ITB503 1 `kind` is missing"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n", "ITB504 1"),
        ("a: \x00\n", "ITB502"),
        ("a: " + "[" * 2000 + "\n", "ITB502"),
        (b"a: \xff\n", "ITB002"),
    ],
)
def test_what_is_wrong_with_a_manifest(tmp_path: Path, text: str | bytes, message: str):
    found, said, whole = objects(tmp_path, text)
    assert len(said) == 1
    assert said[0].startswith(message)
    assert (found, whole) == ([], False)


def test_aliases_may_not_explode(tmp_path: Path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    _, said, whole = objects(tmp_path, "\n".join(lines) + "\n")
    assert [message.split()[0] for message in said] == ["ITB502"]
    assert not whole


def test_files_are_sorted_and_found_in_folders(tmp_path: Path):
    for name in ("b.yaml", "a/z.yml", "a/notes.txt"):
        (tmp_path / "m" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "m" / name).touch()
    sink = Sink()
    assert files_of(tmp_path, "m", PLACE, sink) == [tmp_path / "m" / "a" / "z.yml", tmp_path / "m" / "b.yaml"]
    assert files_of(tmp_path, "m/b.yaml", PLACE, sink) == [tmp_path / "m" / "b.yaml"]
    assert not sink.diagnostics
    assert files_of(tmp_path, "nothing", PLACE, sink) == []
    assert [found.code.id for found in sink.diagnostics] == ["ITB501"]
