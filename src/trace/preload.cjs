// Notes which lines of functions below MENDIT_TRACE_ROOT run in this process or thread and which do not, by what
// V8 counts, and writes both into a file of its own in MENDIT_TRACE_OUT. Lines are those of the source as it was
// written: what was transformed in memory is read through the map that it carries.
"use strict";

function trace() {
  const fs = require("fs");
  const path = require("path");
  const { Session } = require("inspector");
  const { fileURLToPath } = require("url");
  const { MessagePort, isMainThread, threadId } = require("worker_threads");

  const root = fs.realpathSync(process.env.MENDIT_TRACE_ROOT) + path.sep;
  const out = path.join(process.env.MENDIT_TRACE_OUT, `${process.pid}-${threadId}.lines`);
  const session = new Session();
  const scripts = new Map(); // by V8's id: path, map, functions that ran
  const lines = new Map(); // by path: numbers that ran and that did not, 1-based
  let written = -1;

  function own(url) {
    let file = url;
    try {
      if (url.startsWith("file:")) file = fileURLToPath(url.replace(/[?#].*$/, ""));
      else file = url.replace(/\?.*$/, "");
      if (!path.isAbsolute(file) || /[\\/](node_modules|\.yarn|\.pnpm)[\\/]/.test(file)) return null;
      file = fs.realpathSync(file);
    } catch {
      return null;
    }
    return file.startsWith(root) ? file.slice(root.length) : null;
  }

  const ask = (method, given) => {
    let answer = null;
    session.post(method, given, (error, result) => {
      if (!error) answer = result;
    });
    return answer;
  };

  const DIGITS = new Map([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].map((it, at) => [it, at]));

  // Of each line of the text the columns and the lines of the source they are made of, 1-based.
  function mapped(url) {
    const inline = /^data:application\/json[^,]*?(;base64)?,/.exec(url || "");
    if (!inline) return null;
    try {
      const rest = url.slice(inline[0].length);
      const map = JSON.parse(inline[1] ? Buffer.from(rest, "base64").toString() : decodeURIComponent(rest));
      if (map.sources.length > 1) return null;
      let source = 0;
      return map.mappings.split(";").map((row) => {
        let column = 0;
        const found = [];
        for (const segment of row ? row.split(",") : []) {
          const numbers = [];
          let value = 0;
          let shift = 0;
          for (const digit of segment) {
            const bits = DIGITS.get(digit);
            value += (bits & 31) << shift;
            shift += 5;
            if (bits & 32) continue;
            numbers.push(value & 1 ? -(value >> 1) : value >> 1);
            value = shift = 0;
          }
          column += numbers[0];
          if (numbers.length > 2) {
            source += numbers[2];
            found.push([column, source + 1]);
          }
        }
        return found;
      });
    } catch {
      return null;
    }
  }

  // Adds the lines of a script on which something of a function ran. What spans the whole text is no function
  // but the module, in what its loader wraps around it.
  function add(script, functions) {
    const text = script.text;
    const firstEnd = text.indexOf("\n") < 0 ? text.length : text.indexOf("\n");
    const marks = new Int8Array(text.length);
    const rows = functions.flatMap((it) => {
      const whole = it.ranges[0];
      const isModule = whole.startOffset <= firstEnd && whole.endOffset >= script.lastLine && firstEnd < text.length;
      return it.ranges.map((range) => ({ ...range, mark: isModule ? 0 : range.count > 0 ? 1 : 2 }));
    });
    rows.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
    for (const row of rows) marks.fill(row.mark, row.startOffset, row.endOffset);
    const found = lines.get(script.path) || [new Set(), new Set()];
    lines.set(script.path, found);
    const note = (mark, line) => mark && found[mark - 1].add(line);
    let start = 0;
    text.split("\n").forEach((line, at) => {
      if (script.map) {
        for (const [column, source] of script.map[at] || []) note(marks[start + column], source);
      } else {
        for (let column = 0; column < line.length; column++) if (line[column] > " ") note(marks[start + column], at + 1);
      }
      start += line.length + 1;
    });
  }

  function take() {
    const answer = ask("Profiler.takePreciseCoverage");
    for (const { scriptId, functions } of (answer && answer.result) || []) {
      const script = scripts.get(scriptId);
      const fresh = script && script.text === undefined;
      if (!script || !(fresh || functions.some((it) => it.ranges[0].count > 0))) continue;
      if (script.text === undefined) {
        const source = ask("Debugger.getScriptSource", { scriptId });
        script.text = (source && source.scriptSource) || "";
        script.lastLine = script.text.trimEnd().lastIndexOf("\n");
        script.map = mapped(script.mapUrl);
      }
      if (script.text.length < 4000000) add(script, functions);
    }
    const sum = [...lines.values()].reduce((all, it) => all + it[0].size + it[1].size, 0);
    if (sum === written) return;
    written = sum;
    const sorted = (numbers) => [...numbers].sort((a, b) => a - b).join(" ");
    const rows = [...lines].map(([file, [ran, idle]]) => `${file}\t${sorted(ran)}\t${sorted([...idle].filter((it) => !ran.has(it)))}\n`);
    try {
      fs.writeFileSync(out, rows.sort().join(""));
    } catch {
      // Nothing is known of what cannot be written.
    }
  }

  function start() {
    session.connect();
    session.on("Debugger.scriptParsed", ({ params }) => {
      const file = own(params.url);
      if (file !== null) scripts.set(params.scriptId, { path: file, mapUrl: params.sourceMapURL });
    });
    ask("Debugger.enable");
    ask("Profiler.enable");
    ask("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    process.on("exit", take);
    process.on("disconnect", take);
    process.on("SIGTERM", () => {
      take();
      if (process.listenerCount("SIGTERM") === 1) process.exit(143);
    });
    // Threads are ended without a word: what they ran is taken before they say anything.
    setInterval(take, 100).unref();
    if (!isMainThread) {
      const { postMessage } = MessagePort.prototype;
      let left = 500;
      MessagePort.prototype.postMessage = function (...given) {
        if (left-- > 0) take();
        return postMessage.apply(this, given);
      };
    }
  }

  start();
}

try {
  trace();
} catch {
  // A node without an inspector, as threads of the runtime itself are, runs as it would.
}
