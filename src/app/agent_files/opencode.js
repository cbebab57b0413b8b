// Written by `mendit init opencode`. After a test command that failed it adds what broke and where; in
// place of a long log stand that, or one line. Without `mendit` on the search path it does nothing.
import { spawn } from "node:child_process";
import { resolve } from "node:path";

const asked = (told, cwd) =>
  new Promise((done) => {
    const child = spawn("mendit", ["hook"], { cwd, timeout: 20_000, stdio: ["pipe", "pipe", "ignore"] });
    let text = "";
    child.on("error", () => done(null));
    child.stdout.on("data", (part) => (text += part));
    child.on("close", () => {
      try {
        done(JSON.parse(text));
      } catch {
        done(null);
      }
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(told));
  });

export const Mendit = async ({ directory }) => ({
  "tool.execute.after": async (input, output) => {
    if (input.tool !== "bash" || typeof output?.output !== "string") return;
    const told = {
      hook_event_name: "tool.execute.after",
      tool_input: { command: input.args?.command },
      tool_response: { output: output.output, exit_code: output.metadata?.exit },
    };
    const answer = await asked(told, resolve(directory, input.args?.workdir ?? ""));
    if (answer?.output) output.output = answer.output;
    else if (answer?.added) output.output += `\n\n${answer.added}`;
  },
});
