// What the package promises; run by `scripts/package/wasm.sh`, which names its folder in PACKAGE.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { env } from "node:process";
import { test } from "node:test";

const { Judge } = createRequire(import.meta.url)(env.PACKAGE);

const FILES = { "src/a.py": "def f():\n    return 1\n", "b.bin": Uint8Array.of(255, 0) };
const DIFF = "--- a/src/a.py\n+++ b/src/a.py\n@@ ... @@\n def f():\n-    return 1\n+    return 2\n";
const text = (bytes) => new TextDecoder().decode(bytes);

test("a reply that applies says what the files would be", () => {
  const judged = new Judge(FILES).judge(`Sure:\n\n\`\`\`diff\n${DIFF}\`\`\`\n`);
  assert.equal(judged.applies, true);
  assert.deepEqual(Object.keys(judged.files), ["src/a.py"]);
  assert.equal(text(judged.files["src/a.py"]), "def f():\n    return 2\n");
  assert.equal(judged.verdict.verdict, "applies_mended");
  assert.match(judged.verdict.canonicalPatch, /^\+ {4}return 2$/m);
  assert.deepEqual([judged.feedback, judged.errorCode], ["", undefined]);
});

test("a reply that does not apply says why", () => {
  const reply = new TextEncoder().encode(DIFF.replace("return 1", "return 7"));
  const judged = new Judge(FILES).judge(reply);
  assert.deepEqual([judged.applies, judged.errorCode, judged.files], [false, "P402", {}]);
  assert.match(judged.feedback, /return 1/);
});

test("a file that goes is null", () => {
  const patch = "*** Begin Patch\n*** Delete File: src/a.py\n*** End Patch\n";
  assert.deepEqual(new Judge(FILES).judge(patch).files, { "src/a.py": null });
});

test("options are those of the program", () => {
  const edit = '{"path": "Makefile", "old": "all:", "new": "all: x"}';
  const files = { Makefile: "all:\n" };
  assert.equal(new Judge(files).judge(edit).errorCode, "P701");
  assert.equal(new Judge(files, { allowProtected: ["Makefile"] }).judge(edit).applies, true);
  const broken = DIFF.replace("return 2", "return (");
  assert.equal(new Judge(FILES).judge(broken).errorCode, "P801");
  assert.equal(new Judge(FILES, { asWritten: true }).judge(broken).applies, true);
});

test("both languages are parsed", () => {
  const edit = '{"path": "a.tsx", "old": "1", "new": "<a"}';
  assert.equal(new Judge({ "a.tsx": "const a = 1;\n" }).judge(edit).errorCode, "P801");
});

test("what is no path, glob or content is an error", () => {
  assert.throws(() => new Judge({ "../a": "" }), /leaves the repository/);
  assert.throws(() => new Judge({}, { allowProtected: ["["] }));
  assert.throws(() => new Judge({ a: 1 }), /string or a Uint8Array/);
});

test("types come with it, those of the documents too", () => {
  for (const kind of ["nodejs", "bundler"]) {
    const types = readFileSync(join(env.PACKAGE, kind, "mendit_judge.d.ts"), "utf8");
    assert.match(types, /readonly verdict: PatchVerdict/);
    assert.ok(existsSync(join(env.PACKAGE, kind, "mendit.d.ts")));
  }
});
