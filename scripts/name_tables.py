#!/usr/bin/env python3
"""Generates the tables of names that `hint` knows without an import, from the languages' own descriptions.

    pip download --no-deps typeshed-client && unzip typeshed_client-*.whl -d typeshed
    npm install --prefix types @types/node typescript@5
    scripts/name_tables.py --typeshed typeshed/typeshed_client/typeshed --types types/node_modules [--check]

python/builtins.txt, python/names.txt   this Python, by inspection
python/stdlib.txt                       the modules of this Python and of typeshed's VERSIONS
typescript/globals.txt                  the libraries of TypeScript without workers and script hosts, and what Node.js adds
typescript/node_names.txt               this Node.js, by inspection; `type` rows: @types/node; `*` rows: the modules themselves

everyday.txt, node_builtins.txt and bundlers.txt are short and kept by hand. `--check` writes nothing and says how
many rows would come and go.
"""
import argparse
import builtins
import contextlib
import importlib
import io
import json
import pathlib
import re
import subprocess
import sys
import types
import warnings

LANGUAGES = pathlib.Path(__file__).resolve().parent.parent / "src" / "languages"
# Constants by the hundred, which nobody imports by name.
CONSTANTS_OF = {"curses", "errno", "fcntl", "ossaudiodev", "resource", "select", "socket", "sunau", "syslog", "termios",
                "tty"}
WANTED = re.compile(r"AF_INET6?|AF_UNIX|IPPROTO_TCP|SOCK_DGRAM|SOCK_STREAM|SOL_SOCKET|SO_REUSEADDR|TCP_NODELAY")
# Submodules that code imports names from.
SUBMODULES = """asyncio.subprocess collections.abc concurrent.futures email.message email.utils html.parser http.client
http.cookies http.server importlib.metadata importlib.resources importlib.util json.decoder logging.config
logging.handlers multiprocessing.pool os.path unittest.mock urllib.error urllib.parse urllib.request
wsgiref.simple_server xml.etree.ElementTree xmlrpc.client""".split()
# Modules that repeat the names of others, or run once they are imported.
SKIPPED = {"antigravity", "asynchat", "asyncore", "audioop", "distutils", "genericpath", "idlelib", "imp", "lib2to3", "nt",
           "ntpath", "nturl2path", "opcode", "pickletools", "posix", "posixpath", "pydoc", "pydoc_data", "smtpd",
           "sre_compile", "sre_constants", "sre_parse", "stringprep", "this", "tkinter", "turtle", "turtledemo"}
NODE_SKIPPED = {"assert/strict", "console", "constants", "domain", "ffi", "inspector/promises", "path/posix",
                "path/win32", "punycode", "quic", "test/reporters", "repl", "sea", "sqlite", "stream/consumers", "stream/iter", "sys",
                "trace_events", "util/types", "vfs", "wasi", "zlib/iter"}
COMMONJS = {"Buffer", "NodeJS", "__dirname", "__filename", "clearImmediate", "exports", "global", "globalThis", "module",
            "process", "require", "setImmediate", "undefined"}


def python_builtins():
    return {name for name in dir(builtins) if not name.startswith("_")}


def python_modules(typeshed):
    rows = [line.split("#")[0].split(":")[0].strip() for line in (typeshed / "VERSIONS").read_text().splitlines()]
    names = {row.split(".")[0] for row in rows if row} | set(sys.stdlib_module_names)
    public = {name for name in names if not name.startswith("_")} - {"typing_extensions", "xxlimited", "xxsubtype"}
    return public | {"__future__", "_thread"}


def python_names():
    """Public names by module: what `__all__` lists, and the classes and functions that the module itself defines."""
    rows = set()
    public = {name for name in sys.stdlib_module_names if not name.startswith("_")} - SKIPPED
    for module_name in sorted(public | set(SUBMODULES)):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                module = importlib.import_module(module_name)
        except ImportError:
            continue
        own = (module_name, f"_{module_name}", "posixpath" if module_name == "os.path" else module_name)
        listed = getattr(module, "__all__", None)
        names = set(listed or ())
        for name, value in vars(module).items():
            is_defined = isinstance(value, type) or callable(value) or listed is None
            is_own = getattr(value, "__module__", module_name) in own and not isinstance(value, types.ModuleType)
            names.update([name] if is_defined and is_own else [])
        for name in names:
            is_constant = re.fullmatch(r"[A-Z][A-Z0-9_]*", name) is not None and module_name in CONSTANTS_OF
            is_constant &= WANTED.fullmatch(name) is None
            is_alias = module_name == "typing" and name in ("io", "re")
            if not name.startswith("_") and name not in dir(builtins) and not is_constant and not is_alias:
                rows.add(f"{name} {module_name}")
    return rows


def node_values():
    script = """const found = [];
        for (const name of require('module').builtinModules.concat('test')) {
            let held;
            try { held = require('node:' + name) } catch { continue }
            found.push(...Object.keys(held).map(key => [key, name]));
        }
        console.log(JSON.stringify(found))"""
    out = subprocess.run(["node", "--no-warnings", "-e", script], check=True, capture_output=True).stdout
    return {(name, module) for name, module in json.loads(out) if not name.startswith("_") and name != "default"}


def node_names(package):
    values = {(name, module) for name, module in node_values() if module not in NODE_SKIPPED and not module.startswith("_")}
    values = {row for row in values if not (row[1].startswith("dns") and row[0].isupper())}
    rows = {f"{name} {module}" for name, module in values}
    for file in package.rglob("*.d.ts"):
        for module, body in re.findall(r'declare module "(?:node:)?([^"]+)" \{\n(.*?)\n\}\n', file.read_text(), re.S):
            # `webcrypto` is global, and the generic types of these two are helpers of their own.
            body = body.split("namespace webcrypto")[0]
            if module in ("events", "util"):
                body = re.sub(r"^    type \w+<", "", body, flags=re.M)
            for name in re.findall(r"^    (?:    )?(?:export )?(?:interface|type) (\w+)", body, re.M):
                is_value = (name, module) in values or module in NODE_SKIPPED or module in ("inspector", "test")
                if not is_value and not name.startswith("_") and not name.endswith("EventMap"):
                    rows.add(f"{name} {module} type")
    modules = {module for _, module in values if "/" not in module and module != "test"}
    return rows | {f"{module} {module} *" for module in modules}


def script_globals(package):
    names = set(COMMONJS) | {module for _, module in node_values() if "/" not in module and not module.startswith("_")}
    declared = re.compile(r"^(?:declare )?(?:interface|type|var|function|class|namespace|const|let) (\w+)", re.M)
    for file in (package / "lib").glob("lib*.d.ts"):
        if not any(word in file.name for word in ("webworker", "scripthost")):
            names.update(declared.findall(file.read_text()))
    return names - {"test"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--typeshed", type=pathlib.Path, required=True)
    parser.add_argument("--types", type=pathlib.Path, required=True)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = {
        "python/builtins.txt": python_builtins(),
        "python/stdlib.txt": python_modules(arguments.typeshed),
        "python/names.txt": python_names(),
        "typescript/globals.txt": script_globals(arguments.types / "typescript"),
        "typescript/node_names.txt": node_names(arguments.types / "@types" / "node"),
    }
    for name, rows in tables.items():
        path = LANGUAGES / name
        known = set(path.read_text().splitlines())
        print(f"{name}: {len(rows)} rows, {len(rows - known)} come, {len(known - rows)} go")
        if not arguments.check:
            path.write_text("".join(f"{row}\n" for row in sorted(rows)))


if __name__ == "__main__":
    main()
