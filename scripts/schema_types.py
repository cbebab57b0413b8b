#!/usr/bin/env python3
"""Writes docs/types/ from docs/schemas/: the documents as TypeScript and as Python types.

With --check nothing is written; the exit code is 1 when a file is not what it would write.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMAS = sorted((ROOT / "docs" / "schemas").glob("*.json"))
NOTE = "Written by scripts/schema_types.py from docs/schemas; changes here are lost."


def named_types():
    """Every type by its name. Where two documents mean different things by a name, the document's
    own name is put before it."""
    documents = [json.loads(path.read_text()) for path in SCHEMAS]
    shapes = {}
    for document in documents:
        for name, schema in document.get("$defs", {}).items():
            shapes.setdefault(name, set()).add(json.dumps(schema, sort_keys=True))
    types = {}
    for document in documents:
        title = document["title"]
        local = {
            name: name if len(shapes[name]) == 1 and name != title else title + name
            for name in document.get("$defs", {})
        }
        types[title] = (document, local)
        for name, schema in document.get("$defs", {}).items():
            types[local[name]] = (schema, local)
    return dict(sorted(types.items()))


def lines_of(schema):
    return schema.get("description", "").replace("*/", "* /").splitlines()


def alternatives(schema):
    return schema.get("oneOf") or schema.get("anyOf")


class TypeScript:
    file = ROOT / "docs" / "types" / "mendit.d.ts"
    names = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}

    def head(self):
        return [f"// {NOTE}"]

    def declare(self, name, schema, local):
        out = ["", *self.comment(lines_of(schema), "")]
        if "properties" not in schema:
            return [*out, f"export type {name} = {self.type(schema, local)};"]
        required = set(schema.get("required", []))
        out.append(f"export interface {name} {{")
        for key, value in schema["properties"].items():
            out += self.comment(lines_of(value), "  ")
            sign = "" if key in required else "?"
            out.append(f"  {key}{sign}: {self.type(value, local)};")
        return [*out, "}"]

    def comment(self, lines, indent):
        if len(lines) < 2:
            return [f"{indent}/** {line} */" for line in lines]
        return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]

    def type(self, schema, local):
        if schema is True:
            return "unknown"
        if "$ref" in schema:
            return local[schema["$ref"].rsplit("/", 1)[1]]
        if "const" in schema:
            return json.dumps(schema["const"])
        if "enum" in schema:
            return " | ".join(json.dumps(value) for value in schema["enum"])
        if alternatives(schema):
            return " | ".join(dict.fromkeys(self.type(one, local) for one in alternatives(schema)))
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return " | ".join(self.kind(kind, schema, local) for kind in kinds) or "unknown"

    def kind(self, kind, schema, local):
        if kind == "array":
            item = self.type(schema.get("items", True), local)
            size = schema.get("maxItems")
            if size and size == schema.get("minItems"):
                return f"[{', '.join([item] * size)}]"
            return f"Array<{item}>"
        if kind == "object":
            return f"Record<string, {self.type(schema.get('additionalProperties', True), local)}>"
        return self.names[kind]


class Python(TypeScript):
    file = ROOT / "docs" / "types" / "mendit_types.py"
    names = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

    def head(self):
        return [
            f'"""{NOTE} For Python 3.11 and newer."""',
            "",
            "from typing import Any, Literal, NotRequired, TypedDict, Union",
        ]

    def declare(self, name, schema, local):
        out = ["", *(f"# {line}".rstrip() for line in lines_of(schema))]
        if "properties" not in schema:
            return [*out, f"{name} = {self.type(schema, local)}"]
        required = set(schema.get("required", []))
        out.append(f"class {name}(TypedDict):")
        for key, value in schema["properties"].items():
            out += [f"    # {line}".rstrip() for line in lines_of(value)]
            written = self.type(value, local)
            out.append(f"    {key}: {written if key in required else f'NotRequired[{written}]'}")
        return out

    def type(self, schema, local):
        if schema is True:
            return "Any"
        if "$ref" in schema:
            return json.dumps(super().type(schema, local))
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return f"Literal[{', '.join(map(repr, schema['enum']))}]"
        if alternatives(schema):
            return self.union([self.type(one, local) for one in alternatives(schema)])
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return self.union([self.kind(kind, schema, local) for kind in kinds]) if kinds else "Any"

    def union(self, types):
        types = list(dict.fromkeys(types))
        return types[0] if len(types) == 1 else f"Union[{', '.join(types)}]"

    def kind(self, kind, schema, local):
        if kind == "array":
            return f"list[{self.type(schema.get('items', True), local)}]"
        if kind == "object":
            return f"dict[str, {self.type(schema.get('additionalProperties', True), local)}]"
        return self.names[kind]


def main():
    check = sys.argv[1:] == ["--check"]
    stale = False
    for language in TypeScript(), Python():
        lines = language.head()
        for name, (schema, local) in named_types().items():
            lines += language.declare(name, schema, local)
        text = "\n".join(lines) + "\n"
        if not check:
            language.file.parent.mkdir(exist_ok=True)
            language.file.write_text(text)
        elif not language.file.exists() or language.file.read_text() != text:
            print(f"{language.file.relative_to(ROOT)} is not fresh: run scripts/schema_types.py", file=sys.stderr)
            stale = True
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
