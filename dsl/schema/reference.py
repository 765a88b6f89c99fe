"""The reference of all blocks as Markdown, made from the schema: a section of `docs/spec.md`."""

from __future__ import annotations

from itbc.dsl.computing import FUNCTIONS
from itbc.dsl.describing import describe
from itbc.dsl.schema.scenario import FILE
from itbc.dsl.schema.types import AttributeSchema, BlockSchema, Keyword, Nested

BEGIN = "<!-- The reference below is made from dsl/schema/; `pytest tests/spec --update-golden` writes it anew. -->"
END = "<!-- End of the reference. -->"


def reference() -> str:
    """The whole section, with its first and last line."""
    lines = [BEGIN, ""]
    seen: set[int] = set()
    for nested in FILE.blocks:
        _block(nested, "a file", lines, seen)
    lines += ["### Functions", "", "| function | result |", "|---|---|"]
    for name, function in sorted(FUNCTIONS.items()):
        arguments = ", ".join(function.takes) + (", …" if function.many else "")
        lines.append(f"| `{name}({arguments})` | {function.doc} |")
    return "\n".join([*lines, "", END])


def _block(nested: Nested, where: str, lines: list[str], seen: set[int]) -> None:
    block = nested.block
    if id(block) in seen:
        return
    seen.add(id(block))
    header = " ".join([block.type, *(f'"{label.name}"' for label in block.labels)])
    lines += [f"### `{header}` in {where}", "", block.doc]
    if not block.checked:
        lines.append("**Its meaning isn't checked yet (ITB801).**")
    lines += ["", f"{_amount(nested)}.", ""]
    lines += [f"- label {label.name}: {label.doc}" for label in block.labels]
    if block.labels:
        lines.append("")
    if block.attributes:
        lines += ["| attribute | value | without it | |", "|---|---|---|---|"]
        lines += [_attribute(attribute, block) for attribute in block.attributes]
        lines.append("")
    lines += [
        f"Exactly one of {', '.join(f'`{name}`' for name in choice)} must be given.\n" for choice in block.exclusive
    ]
    if block.open_doc:
        lines += [block.open_doc, ""]
    if block.blocks:
        lines += [f"Blocks in it: {', '.join(f'`{inner.block.type}`' for inner in block.blocks)}.", ""]
    for inner in block.blocks:
        _block(inner, f"`{block.type}`", lines, seen)


def _amount(nested: Nested) -> str:
    if nested.maximum == 1:
        return "Exactly one" if nested.minimum else "At most one"
    return f"At least {nested.minimum}" if nested.minimum else "Any number"


def _attribute(attribute: AttributeSchema, block: BlockSchema) -> str:
    chosen = any(attribute.name in choice for choice in block.exclusive)
    without = "an error" if attribute.required else "see below" if chosen else attribute.default or "nothing"
    doc = attribute.doc
    if isinstance(attribute.type, Keyword):
        meanings = [f"`{word}`: {meaning}" for word, meaning in attribute.type.words.items() if meaning]
        doc += f" {'; '.join(meanings)}." if meanings else ""
    if not attribute.checked:
        doc += " *Not checked yet.*"
    return f"| `{attribute.name}` | {describe(attribute.type)} | {without} | {doc} |"
