// Writes package.json of the npm package: the folder is the only argument.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const manifest = readFileSync(resolve(here, "Cargo.toml"), "utf8");
const field = (name) => manifest.match(new RegExp(`^${name} = "(.*)"$`, "m"))[1];
const entry = (kind) => ({
  types: `./${kind}/mendit_judge.d.ts`,
  default: `./${kind}/mendit_judge.js`,
});

writeFileSync(join(argv[2], "package.json"), JSON.stringify({
  name: "mendit-judge",
  version: field("version"),
  description: field("description"),
  license: `(${field("license")})`,
  type: "module",
  main: "./nodejs/mendit_judge.js",
  module: "./bundler/mendit_judge.js",
  types: "./nodejs/mendit_judge.d.ts",
  exports: { ".": { node: entry("nodejs"), default: entry("bundler") } },
  files: ["nodejs", "bundler"],
  sideEffects: ["./bundler/mendit_judge.js"],
}, null, 2) + "\n");
