#!/usr/bin/env node
// Starts the program of the package that npm installed for this platform.
"use strict";
const { spawnSync } = require("node:child_process");
const os = require("node:os");

const name = `mendit-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/mendit`);
} catch {
  console.error(`mendit: the package ${name} is not installed; there may be none for this platform`);
  process.exit(2);
}
// Ctrl-C reaches the program itself, which ends in its own time.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const { error, status, signal } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`mendit: ${error.message}`);
  process.exit(2);
}
process.exit(status ?? 128 + os.constants.signals[signal]);
