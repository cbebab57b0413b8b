#!/usr/bin/env node
// The import that was meant, side by side: this program and TypeScript's own "add missing import".
//
//   node scripts/compare/hint.mjs REPOSITORY...
//
// Each REPOSITORY is a clone. Of up to CASES (default 40) of its files, evenly spread, one import
// `import { NAME } from 'a file of the repository'` is taken out of a copy; both tools are asked
// where NAME comes from. Counted: the first answer is the specifier that was there. CPU seconds:
// one process of ours per name; a language service that stays up, its start counted separately.
//
// MENDIT is the program (default target/release/mendit). The package `typescript` comes from
// NODE_MODULES (a directory); `npm install typescript@5` in any directory makes one. Needs python3;
// installs nothing.
import { execFileSync, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const here = path.resolve(import.meta.dirname, '../..')
const mendit = path.resolve(process.env.MENDIT ?? path.join(here, 'target/release/mendit'))
const most = Number(process.env.CASES ?? 40)
const repositories = process.argv.slice(2)
if (repositories.length === 0 || !fs.existsSync(mendit)) {
  console.error('usage: node scripts/compare/hint.mjs REPOSITORY...   (after `cargo build --release`)')
  process.exit(2)
}
const modules = path.resolve(process.env.NODE_MODULES ?? 'node_modules')
let ts
try {
  ts = createRequire(path.join(modules, 'x.js'))('typescript')
} catch {
  console.error(`skipped: there is no package typescript in ${modules}; set NODE_MODULES`)
  process.exit(0)
}

const cpu = (usage) => (usage.user + usage.system) / 1e6
const timed = (work) => {
  const before = process.cpuUsage()
  const result = work()
  return [result, cpu(process.cpuUsage(before))]
}
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]

// Files that import one name from a relative path, the import on a line of its own.
function casesOf(root) {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 })
  const found = []
  for (const file of files.split('\n').filter(Boolean).sort()) {
    if (/\.d\.ts$|(^|\/)(node_modules|fixtures?|playground|dist)\//.test(file)) continue
    const text = fs.readFileSync(path.join(root, file), 'utf8')
    const line = /^import \{ (\w+) \} from (['"])(\.[^'"]*)\2;?\n/m.exec(text)
    if (!line) continue
    const cut = text.replace(line[0], '')
    const at = new RegExp(`\\b${line[1]}\\b`).exec(cut)
    if (at) found.push({ file, name: line[1], specifier: line[3], text: cut })
  }
  const step = Math.max(1, Math.floor(found.length / most))
  return found.filter((_, at) => at % step === 0).slice(0, most)
}

const services = new Map()
function service(root, file) {
  const config = ts.findConfigFile(path.dirname(path.join(root, file)), ts.sys.fileExists)
  const held = services.get(config)
  if (held) return held
  const parsed = ts.getParsedCommandLineOfConfigFile(config, {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} })
  const edited = new Map()
  const roots = new Set(parsed?.fileNames ?? [])
  const host = {
    getScriptFileNames: () => [...roots],
    getScriptVersion: (name) => String(edited.get(name)?.version ?? 0),
    getScriptSnapshot: (name) => {
      const text = edited.get(name)?.text ?? ts.sys.readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => parsed?.options ?? {},
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    useCaseSensitiveFileNames: () => true,
  }
  const made = { edited, roots, tool: ts.createLanguageService(host) }
  services.set(config, made)
  return made
}

function theirs(root, one) {
  const { edited, roots, tool } = service(root, one.file)
  const name = path.join(root, one.file)
  roots.add(name)
  edited.set(name, { text: one.text, version: (edited.get(name)?.version ?? 0) + 1 })
  const missing = tool.getSemanticDiagnostics(name).filter((it) => it.file && one.text.substr(it.start, it.length) === one.name)
  const at = missing.find((it) => [2304, 2552, 2503, 2693, 2749].includes(it.code))
  let answer
  if (at) {
    const fixes = tool.getCodeFixesAtPosition(name, at.start, at.start + at.length, [at.code], ts.getDefaultFormatCodeSettings(), {})
    // Some do not import but write `module.NAME` at the name.
    const fix = fixes.find((it) => it.fixName === 'import' && !it.description.startsWith('Change '))
    const text = fix?.changes.flatMap((it) => it.textChanges).map((it) => it.newText).join('')
    answer = /from\s+["']([^"']+)["']/.exec(text ?? '')?.[1]
    // Added to an existing import: the description names the module.
    answer ??= /from "([^"]+)"/.exec(fix?.description ?? '')?.[1]
  }
  edited.delete(name)
  return answer
}

function ours(root, one) {
  const whole = path.join(root, one.file)
  const before = fs.readFileSync(whole)
  fs.writeFileSync(whole, one.text)
  const script = 'import json,resource,subprocess,sys;o=subprocess.run(sys.argv[1:],capture_output=True).stdout;u=resource.getrusage(resource.RUSAGE_CHILDREN);print(json.dumps([u.ru_utime+u.ru_stime,json.loads(o or "{}")]))'
  const ran = spawnSync('python3', ['-c', script, mendit, '-C', root, 'hint', '--format', 'json', '--file', one.file, one.name], { encoding: 'utf8' })
  fs.writeFileSync(whole, before)
  const [seconds, document] = JSON.parse(ran.stdout)
  return [document.suggestions?.[0]?.module, seconds]
}

console.log('| repository | tool | cases | first answer as it stood | no answer | CPU s a name | CPU s to start |')
console.log('|---|---|---|---|---|---|---|')
for (const repository of repositories) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'hint-'))
  const root = path.join(fs.realpathSync(scratch), 'tree')
  execFileSync('git', ['clone', '-q', '--shared', '--no-checkout', path.resolve(repository), root])
  const code = ['ts', 'tsx', 'js', 'jsx', 'mjs', 'cjs', 'json'].map((end) => `*.${end}`)
  execFileSync('git', ['sparse-checkout', 'set', '--no-cone', ...code], { cwd: root })
  execFileSync('git', ['checkout', '-q'], { cwd: root })
  const cases = casesOf(root)
  const row = { mendit: [0, 0, []], typescript: [0, 0, []] }
  let start = 0
  const count = (tool, answer, one, seconds) => {
    if (answer === one.specifier) row[tool][0] += 1
    if (answer === undefined) row[tool][1] += 1
    row[tool][2].push(seconds)
  }
  for (const one of cases) {
    const started = services.size
    const [answer, seconds] = timed(() => theirs(root, one))
    if (services.size > started) start += seconds
    count('typescript', answer, one, seconds)
    count('mendit', ...((it) => [it[0], one, it[1]])(ours(root, one)))
  }
  for (const [tool, [right, none, seconds]] of Object.entries(row)) {
    const name = path.basename(repository)
    console.log(`| ${name} | ${tool} | ${cases.length} | ${right} | ${none} | ${median(seconds)?.toFixed(3)} | ${tool === 'typescript' ? start.toFixed(1) : '-'} |`)
  }
  services.clear()
  fs.rmSync(scratch, { recursive: true, force: true })
}
