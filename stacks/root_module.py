"""A Terraform root module as a cdktn construct, with what all of ours have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cdktn import (
    LocalBackend,
    TerraformOutput,
    TerraformProvider,
    TerraformProviderGeneratorMetadata,
    TerraformResource,
    TerraformStack,
    TerraformVariable,
)
from constructs import Construct

PROVIDER = "itbc"
PROVIDER_SOURCE = "itbc.local/itbc/itbc"

INPUTS: Mapping[str, str] = {
    "run_id": "The run that these resources belong to.",
    "state_dir": "The folder that holds the run's own files.",
    "expires": "When these resources may be removed by anyone (RFC 3339).",
    "kubeconfig": "Path of a kubeconfig with administrator's rights.",
    "cluster": "Id of the cluster.",
    "masks": "What an agent must not see, separated by commas: KIND or KIND:SERVICE.",
}
"""Every input variable there is, and what it means."""


def literal(text: str) -> str:
    """A text that Terraform takes as it is, whatever looks like a template in it."""
    return text.replace("${", "$${").replace("%{", "%%{")


def artefact(path: str) -> str:
    """The absolute path of a file below the artefact folder's `files/`, as a Terraform expression.

    It is made absolute by Terraform, not by the provider: that one runs in
    another working folder.
    """
    return f'${{abspath("${{path.module}}/../../files/{literal(path)}")}}'


class RootModule(TerraformStack):
    """A stack with our provider, a state beside it, and generic resources: no bindings are generated or imported."""

    def __init__(self, scope: Construct, stack_id: str) -> None:
        """Make an empty root module."""
        super().__init__(scope, stack_id)
        # Explicit and relative: the default would be an absolute path made from the current directory.
        LocalBackend(self, path="terraform.tfstate")
        self._generator = TerraformProviderGeneratorMetadata(provider_name=PROVIDER)
        TerraformProvider(
            self,
            "provider",
            terraform_resource_type=PROVIDER,
            terraform_provider_source=PROVIDER_SOURCE,
            terraform_generator_metadata=self._generator,
        )

    def input(self, name: str) -> str:
        """Declare one of the `INPUTS` and return the expression that reads it."""
        variable = TerraformVariable(self, name, type="string", description=INPUTS[name], nullable=False)
        value: str = variable.string_value
        return value

    def resource(
        self, kind: str, name: str, arguments: Mapping[str, Any], needs: Sequence[TerraformResource] = ()
    ) -> TerraformResource:
        """Add a resource. Strings in `arguments` are Terraform templates: put user's text through `literal`."""
        resource = TerraformResource(
            self,
            f"{kind}.{name}",
            terraform_resource_type=kind,
            terraform_generator_metadata=self._generator,
            depends_on=list(needs) or None,
        )
        resource.override_logical_id(name)
        for argument, value in arguments.items():
            resource.add_override(argument, value)
        return resource

    def output(self, name: str, resource: TerraformResource, attribute: str, description: str) -> None:
        """Add an output that hands a resource's attribute on."""
        TerraformOutput(self, name, value=resource.get_string_attribute(attribute), description=description)
