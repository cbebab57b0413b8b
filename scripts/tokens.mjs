// How many bytes of a file a token takes, to hold the estimate of two tokens for every seven bytes against.
//
//   npm install --prefix DIR gpt-tokenizer
//   node scripts/tokens.mjs DIR FILE [FILE ...]
//   node scripts/tokens.mjs DIR --packets CONTEXT.json [CONTEXT.json ...]
//
// Prints, for each ending and vocabulary: files, bytes per token of all together, of the densest file,
// and of the file at the fifth percentile. Of packets: how many there are, how many take more than their
// `totalTokens`, tokens per estimated token of all together, and of the densest packet.
import { readFileSync } from 'node:fs';
import { extname, resolve } from 'node:path';

const [directory, ...files] = process.argv.slice(2);
const packets = files[0] === '--packets' ? files.splice(0) : [];
const vocabularies = ['cl100k_base', 'o200k_base'];
const byEnding = new Map();
for (const name of vocabularies) {
  const module = resolve(directory, 'node_modules/gpt-tokenizer/esm/encoding', `${name}.js`);
  const { countTokens } = await import(module);
  const count = (text) => countTokens(text, { allowedSpecial: 'all' });
  const shares = [];
  let [taken, estimated] = [0, 0];
  for (const packet of packets.slice(1)) {
    const document = JSON.parse(readFileSync(packet, 'utf8'));
    const tokens = document.files.reduce((total, file) => total + count(file.content), 0);
    shares.push(tokens / document.totalTokens);
    taken += tokens;
    estimated += document.totalTokens;
  }
  if (shares.length > 0) {
    const above = shares.filter((share) => share > 1).length;
    const worst = Math.max(...shares).toFixed(3);
    console.log('packets', name, shares.length, above, (taken / estimated).toFixed(3), worst);
  }
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    const bytes = Buffer.byteLength(text);
    if (bytes < 500) continue;
    const tokens = count(text);
    const key = `${extname(file) || file} ${name}`;
    byEnding.set(key, [...(byEnding.get(key) ?? []), { bytes, tokens }]);
  }
}
for (const [key, rows] of [...byEnding].sort()) {
  const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
  const ratios = rows.map((row) => row.bytes / row.tokens).sort((a, b) => a - b);
  const figures = [sum('bytes') / sum('tokens'), ratios[0], ratios[Math.floor(rows.length / 20)]];
  console.log(key, rows.length, ...figures.map((figure) => figure.toFixed(2)));
}
