"""From a plan and a target to an artefact folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from itbc import __version__
from itbc.compiler.emit.environment import environment
from itbc.compiler.emit.evaluation import evaluation
from itbc.compiler.emit.folder import FolderError, digests, write_folder
from itbc.compiler.emit.plays import render_project
from itbc.compiler.emit.rules import render_rules, rules_path
from itbc.compiler.plan import Plan
from itbc.compiler.target import Material, Materials, StackUse, Target
from itbc.contracts import schemas
from itbc.contracts.manifest import Manifest
from itbc.contracts.shape import Origin
from itbc.stacks.synthesis import synthesise

__all__ = ["FolderError", "emit"]


def emit(plan: Plan, target: Target, out: Path, cache: Path | None) -> Manifest:
    """Write the artefacts of a plan to `out` and return their manifest.

    `cache` keeps synthesised stacks. Raises FolderError, and SynthesisError
    where cdktn fails.
    """
    contents = _contents(plan)
    stacks = target.stacks(plan, _materials(plan, contents))
    files = {f"files/{path}": data for path, data in contents.items()}
    files.update({f"ansible/{path}": data for path, data in render_project(plan.faults).items()})
    modules = synthesise([use.declaration for use in stacks], cache)
    files.update({f"terraform/{stack}/main.tf.json": data for stack, data in modules.items()})
    files["environment.json"] = schemas.checked("environment", environment(plan, stacks))
    files["evaluation.json"] = schemas.checked("evaluation", evaluation(plan))
    manifest = Manifest(
        compiler=__version__,
        scenario=plan.scenario,
        title=plan.metadata.title,
        persona=plan.metadata.persona,
        target=plan.target,
        files=digests(files),
        origins=_origins(plan, stacks),
    )
    write_folder(out, files, manifest)
    return manifest


def _contents(plan: Plan) -> Mapping[str, bytes]:
    """What stacks refer to, by its path below `files/`."""
    contents = {rules_path(step.cluster): render_rules(step) for step in plan.telemetry}
    for step in plan.applications:
        for image in step.images:
            contents.update({f"{_image_path(step.application, image.name)}/{e.path}": e.data for e in image.files})
    return contents


def _materials(plan: Plan, contents: Mapping[str, bytes]) -> Materials:
    known = digests(contents)
    return Materials(
        rules={step.cluster: Material(path := rules_path(step.cluster), known[path]) for step in plan.telemetry},
        images={
            (step.application, image.name): Material(_image_path(step.application, image.name), image.digest)
            for step in plan.applications
            for image in step.images
        },
    )


def _image_path(application: str, image: str) -> str:
    return f"images/{application}/{image}"


def _origins(plan: Plan, stacks: Sequence[StackUse]) -> dict[str, Origin]:
    """Where everything that an outside tool can complain about comes from."""
    origins = {f"{use.id}/{address}": span.origin for use in stacks for address, span in use.origins.items()}
    origins.update({f"play/{step.fault}": step.span.origin for step in plan.faults})
    return dict(sorted(origins.items()))
