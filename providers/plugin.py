"""The one Terraform provider of itbc: it hands its surroundings to every resource and lets no exception out.

A resource class is an ordinary `tf.iface.Resource` whose constructor takes one
argument, the `Services` of whoever hosts it. Whatever such a resource raises
becomes an error diagnostic, and for `create` and `update` the planned state is
returned with it, so that Terraform keeps the thing as tainted instead of
forgetting it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tf import iface, schema
from tf.types import Unknown
from tf.utils import Diagnostics

from itbc.providers.services import Services

ADDRESS = "itbc.local/itbc/itbc"
"""The provider's source address in `required_providers`."""

State = dict[str, Any]


class ResourceClass(Protocol):
    """What a resource type must offer: `tf`'s class methods and a constructor that takes the services."""

    def __call__(self, services: Services, /) -> Any:
        """Make a resource for one call."""
        ...

    def get_name(self) -> str:
        """The type name without the provider's prefix."""
        ...

    def get_schema(self) -> schema.Schema:
        """The resource's schema."""
        ...


def without_unknowns(planned: State | None) -> State | None:
    """A planned state as it can be kept after a failure: what isn't known yet is null."""
    if planned is None:
        return None
    return {name: None if value is Unknown else value for name, value in planned.items()}


class Guarded:
    """A resource whose exceptions come out as error diagnostics."""

    def __init__(self, type_name: str, resource: Any) -> None:
        self._type_name = type_name
        self._resource = resource

    def validate(self, diags: Diagnostics, type_name: str, config: State) -> None:
        """Check a configuration."""
        self._guard(diags, "check", None, lambda: self._resource.validate(diags, type_name, config))

    def create(self, ctx: iface.CreateContext, planned: State) -> State | None:
        """Create the thing; after a failure the planned state is kept, so that destroy will look for it."""
        return self._guard(
            ctx.diagnostics, "create", without_unknowns(planned), lambda: self._resource.create(ctx, planned)
        )

    def read(self, ctx: iface.ReadContext, current: State) -> State | None:
        """The thing's state now, or None where it is gone."""
        return self._guard(ctx.diagnostics, "read", current, lambda: self._resource.read(ctx, current))

    def update(self, ctx: iface.UpdateContext, current: State, planned: State) -> State | None:
        """Change the thing in place."""
        return self._guard(ctx.diagnostics, "update", current, lambda: self._resource.update(ctx, current, planned))

    def delete(self, ctx: iface.DeleteContext, current: State) -> State | None:
        """Delete the thing; after a failure it stays in the state."""

        def delete() -> State | None:
            self._resource.delete(ctx, current)
            return current if ctx.diagnostics.has_errors() else None

        return self._guard(ctx.diagnostics, "delete", current, delete)

    def plan(self, ctx: iface.PlanContext, current: State | None, planned: State) -> State | None:
        """Refine a planned change."""
        return self._guard(ctx.diagnostics, "plan", planned, lambda: self._resource.plan(ctx, current, planned))

    def upgrade(self, ctx: iface.UpgradeContext, version: int, old: State) -> State | None:
        """Bring a state of an older schema version up to date."""
        return self._guard(ctx.diagnostics, "upgrade", old, lambda: self._resource.upgrade(ctx, version, old))

    def import_(self, ctx: iface.ImportContext, id: str) -> State | None:  # noqa: A002 - the name is tf's
        """Adopt an existing thing."""
        return self._guard(ctx.diagnostics, "import", None, lambda: self._resource.import_(ctx, id))

    def _guard(
        self, diagnostics: Diagnostics, verb: str, fallback: State | None, call: Callable[[], State | None]
    ) -> State | None:
        try:
            return call()
        except Exception as wrong:  # noqa: BLE001 - a provider that dies makes Terraform forget what it created
            detail = f"{type(wrong).__name__}: {wrong}"
            diagnostics.add_error(f"Can't {verb} {self._type_name}", detail)
            return fallback


@dataclass(frozen=True, slots=True)
class Plugin:
    """The provider, as `tf`'s servicer wants it."""

    services: Services
    resources: Sequence[ResourceClass]

    def get_model_prefix(self) -> str:
        """What every resource type's name begins with."""
        return "itbc_"

    def full_name(self) -> str:
        """The provider's source address."""
        return ADDRESS

    def get_provider_schema(self, diags: Diagnostics) -> schema.Schema:  # noqa: ARG002
        """The provider itself has no settings: everything differs from run to run and comes in by arguments."""
        return schema.Schema(version=0, attributes=[])

    def validate_config(self, diags: Diagnostics, config: State) -> None:
        """Nothing to check: there are no settings."""

    def configure_provider(self, diags: Diagnostics, config: State) -> None:
        """Nothing to do: the services came with the constructor."""

    def get_data_sources(self) -> list[type[iface.DataSource]]:
        """There are none."""
        return []

    def get_functions(self) -> list[Any]:
        """There are none."""
        return []

    def get_resources(self) -> list[ResourceClass]:
        """All resource types of all targets."""
        return list(self.resources)

    def new_resource(self, klass: ResourceClass) -> Guarded:
        """A resource with its services, made for one call."""
        return Guarded(f"itbc_{klass.get_name()}", klass(self.services))
