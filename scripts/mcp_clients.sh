#!/bin/sh
# Asks `mendit mcp` through the clients that others write: the Python and TypeScript SDKs and the
# inspector's command line. Each lists the tools, calls three of them, and one in a wrong way. Installs
# them into FOLDER, once; needs python3 or node and the registries, and says what it skips:
#   scripts/mcp_clients.sh FOLDER [MENDIT]
set -eu
folder=${1:?usage: scripts/mcp_clients.sh FOLDER [MENDIT]}
program=$(command -v "${2:-mendit}") || { echo "there is no ${2:-mendit}: name the program" >&2; exit 2; }
case $program in /*) ;; *) program=$PWD/$program ;; esac
mkdir -p "$folder/repo"
cd "$folder"
folder=$PWD
[ -d repo/.git ] || git -C repo init -q
echo "def area(): return side" > repo/area.py
export XDG_STATE_HOME="$folder/state"

if [ -x py/bin/python ] || { python3 -m venv py && py/bin/pip install -q mcp; }; then
    py/bin/python - "$program" "$folder/repo" <<'PY'
import asyncio, sys
from importlib.metadata import version
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main(program, repo):
    server = StdioServerParameters(command=program, args=["-C", repo, "mcp"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert {"diagnose", "build_context", "check_patch", "imports"} <= tools, tools
        assert (await client.list_prompts()).prompts and (await client.list_resources()).resources
        log = "area.py:1: NameError: name 'side' is not defined\n"
        right = await client.call_tool("diagnose", {"log": log})
        wrong = await client.call_tool("diagnose", {"log": 5})
        failed = lambda it: getattr(it, "is_error", None) or getattr(it, "isError", False)
        assert not failed(right) and failed(wrong)
        assert "do not fit" in wrong.content[0].text
        for name, given in [("find_import", {"names": ["os"], "file": "area.py"}), ("imports", {"files": ["area.py"]})]:
            assert not failed(await client.call_tool(name, given)), name
    print(f"ok: the Python SDK {version('mcp')}: {len(tools)} tools listed, 3 called")

asyncio.run(main(*sys.argv[1:]))
PY
else
    echo "skipped: the Python SDK (python3 or the package is missing)"
fi

command -v npm > /dev/null || { echo "skipped: the TypeScript SDK and the inspector (no npm)"; exit 0; }
if [ ! -d node_modules/@modelcontextprotocol/sdk ] &&
    ! npm install --silent --no-audit --no-fund --prefix . @modelcontextprotocol/sdk @modelcontextprotocol/inspector; then
    echo "skipped: the TypeScript SDK and the inspector (the packages are missing)"
    exit 0
fi
cat > client.mjs <<'JS'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const [command, repo] = process.argv.slice(2);
const client = new Client({ name: "client", version: "1" });
await client.connect(new StdioClientTransport({ command, args: ["-C", repo, "mcp"], env: process.env }));
const { tools } = await client.listTools();
const asked = [["find_import", { names: ["os"], file: "area.py" }], ["imports", { files: ["area.py"] }], ["diagnose", { log: "a" }]];
for (const [name, given] of asked) {
  const right = await client.callTool({ name, arguments: given });
  if (right.isError) throw new Error(JSON.stringify(right));
}
const wrong = await client.callTool({ name: "imports", arguments: { files: ["nowhere.py"] } });
if (!wrong.isError || tools.length < 5) throw new Error(JSON.stringify([wrong, tools]));
await client.close();
console.log(`ok: the TypeScript SDK ${process.argv[4]}: ${tools.length} tools listed, 3 called`);
JS
of() { node -p "require('./node_modules/@modelcontextprotocol/$1/package.json').version"; }
node client.mjs "$program" "$folder/repo" "$(of sdk)"
inspect() { npx --no-install mcp-inspector --cli "$program" -C "$folder/repo" mcp --method "$@" 2> /dev/null; }
listed=$(inspect tools/list | grep -c '"inputSchema"')
answered() {
    case $2 in
        *'"isError": '"$1"*) ;;
        *) echo "the inspector got another answer: $2" >&2; exit 1 ;;
    esac
}
answered false "$(inspect tools/call --tool-name diagnose --tool-arg log=a)"
answered false "$(inspect tools/call --tool-name diagnose --tool-arg "log=area.py:1: NameError: name 'side' is not defined")"
answered true "$(inspect tools/call --tool-name imports --tool-arg 'files=["nowhere.py"]')"
echo "ok: the inspector $(of inspector): $listed tools listed, 3 called"
