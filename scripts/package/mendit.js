#!/usr/bin/env node
// Starts the program of the package that npm installed for this platform.
"use strict";
const { spawn } = require("node:child_process");
const os = require("node:os");

// Programs for Alpine and other musl systems have separate packages.
const isMusl = process.platform === "linux" && !process.report?.getReport().header.glibcVersionRuntime;
const name = `mendit-${process.platform}-${process.arch}${isMusl ? "-musl" : ""}`;
const file = process.platform === "win32" ? "mendit.exe" : "mendit";
let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`mendit: the package ${name} is not installed; there may be none for this platform`);
  process.exit(2);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to the program too, which ends in its own time; other requests are handed on.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`mendit: ${error.message}`);
  process.exit(2);
});
child.on("exit", (status, signal) => process.exit(status ?? 128 + os.constants.signals[signal]));
