#!/usr/bin/env node
// Writes the npm packages: one that holds the program for this platform, and `mendit`, which names
// one such package per platform as optional and starts the one that npm installed.
//   node scripts/package/npm.mjs BINARY [DIR]     the packages go to DIR, target/package/npm if not given
// REPOSITORY=OWNER/NAME is written into them. PLATFORM=darwin-arm64 names another platform than this one, one of those below.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process, { arch, argv, env, exit, platform, stderr } from "node:process";
import { fileURLToPath } from "node:url";

// A row more is a package more.
const PLATFORMS = [
  { os: "linux", cpu: "x64", libc: "glibc" },
  { os: "linux", cpu: "arm64", libc: "glibc" },
  { os: "linux", cpu: "x64", libc: "musl" },
  { os: "linux", cpu: "arm64", libc: "musl" },
  { os: "darwin", cpu: "x64" },
  { os: "darwin", cpu: "arm64" },
];

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const binary = argv[2];
const out = argv[3] ?? join(root, "target/package/npm");
const isMusl = platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
const wanted = env.PLATFORM ?? `${platform}-${arch}${isMusl ? "-musl" : ""}`;
const suffix = ({ os, cpu, libc }) => `${os}-${cpu}${libc === "musl" ? "-musl" : ""}`;
const here = PLATFORMS.find((it) => suffix(it) === wanted);
if (!binary || !here) {
  stderr.write(binary ? `no package is made for ${wanted}\n` : "name the binary\n");
  exit(2);
}

const manifest = readFileSync(join(root, "Cargo.toml"), "utf8");
const field = (name) => manifest.match(new RegExp(`^${name} = "(.*)"$`, "m"))[1];
const common = {
  version: field("version"),
  description: field("description"),
  license: `(${field("license")})`,
  // Provenance and the MCP registry compare these with where the packages were built.
  ...(env.REPOSITORY && { repository: { type: "git", url: `git+https://github.com/${env.REPOSITORY}.git` } }),
};
const nameOf = (platform) => `mendit-${suffix(platform)}`;

const write = (folder, name, text) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};
const json = (value) => JSON.stringify(value, null, 2) + "\n";

const own = join(out, nameOf(here));
write(own, "package.json", json({
  name: nameOf(here),
  ...common,
  os: [here.os],
  cpu: [here.cpu],
  ...(here.libc && { libc: [here.libc] }),
  files: ["bin"],
}));
mkdirSync(join(own, "bin"), { recursive: true });
copyFileSync(binary, join(own, "bin/mendit"));
chmodSync(join(own, "bin/mendit"), 0o755);

const main = join(out, "mendit");
write(main, "package.json", json({
  name: "mendit",
  ...common,
  ...(env.REPOSITORY && { mcpName: `io.github.${env.REPOSITORY.split("/")[0]}/mendit` }),
  bin: { mendit: "bin/mendit.js" },
  files: ["bin"],
  optionalDependencies: Object.fromEntries(PLATFORMS.map((it) => [nameOf(it), common.version])),
}));
mkdirSync(join(main, "bin"), { recursive: true });
copyFileSync(join(root, "scripts/package/mendit.js"), join(main, "bin/mendit.js"));
chmodSync(join(main, "bin/mendit.js"), 0o755);
copyFileSync(join(root, "README.md"), join(main, "README.md"));
