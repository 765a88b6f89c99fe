"""What is deployed into a cluster, whatever the target."""

from __future__ import annotations

from collections.abc import Sequence

from cdktn import TerraformResource
from constructs import Construct

from itbc.stacks import properties
from itbc.stacks.root_module import RootModule, artefact, literal


class Application(RootModule):
    """One `itbc_kubernetes_object` for every object, phase after phase, and the images that the last phase runs."""

    def __init__(self, scope: Construct, given: properties.Application) -> None:
        """Make the stack."""
        super().__init__(scope, given.id)
        images = self._images(given.images)
        kubeconfig = self.input("kubeconfig")
        before: Sequence[TerraformResource] = ()
        for number, phase in enumerate(given.phases, 1):
            needs = [*before, *images] if number == len(given.phases) else before
            before = [self._object(kubeconfig, declared, needs) for declared in phase]

    def _images(self, images: Sequence[properties.Image]) -> Sequence[TerraformResource]:
        if not images:
            return ()
        cluster, state_dir = self.input("cluster"), self.input("state_dir")
        return [
            self.resource(
                image.type,
                image.name,
                {
                    "cluster": cluster,
                    "state_dir": state_dir,
                    "reference": literal(image.reference),
                    "source": artefact(image.source),
                    "source_digest": image.source_digest,
                },
            )
            for image in images
        ]

    def _object(
        self, kubeconfig: str, declared: properties.Object, needs: Sequence[TerraformResource]
    ) -> TerraformResource:
        return self.resource(
            "itbc_kubernetes_object",
            declared.name,
            {
                "kubeconfig": kubeconfig,
                "manifest": literal(declared.manifest),
                "wait": declared.wait,
                "timeout_seconds": declared.timeout_seconds,
            },
            needs,
        )
