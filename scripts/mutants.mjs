// Asks, now and then, what the tests would notice: puts one small fault at a time into a copy of the compiled code and
// runs the tests of its folder.   npm run mutants -- [src/serving src/api/http/paced-response.ts ...] [--count 20] [--seed 7]
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { areasIn, filesIn, runTests } from "./mutant-tests.mjs";
import { lineAt, mutationsOf } from "./mutations.mjs";

const TOP = fileURLToPath(new URL("..", import.meta.url));
const USUAL = ["src/serving", "src/api/http", "src/accounts", "src/workers", "src/contract"];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "20" },
    seed: { type: "string", default: `${Date.now() % 1e6}` },
  },
});
const random = randomOf(Number(values.seed));
const tree = mkdtempSync(join(tmpdir(), "antiphon-mutants-"));
process.on("exit", () => rmSync(tree, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
for (const name of readdirSync(TOP)) if (name !== "dist") symlinkSync(join(TOP, name), join(tree, name));
cpSync(join(TOP, "dist"), join(tree, "dist"), { recursive: true });

const areaOf = areasIn(tree);
const found = (positionals.length > 0 ? positionals : USUAL).flatMap(sourcesIn).flatMap((file) => {
  const source = readFileSync(join(tree, file), "utf8");
  return mutationsOf(source).map((mutation) => ({ file, source, ...mutation }));
});
console.log(`Seed ${values.seed}: ${values.count} of ${found.length} mutants.`);
const tally = { killed: 0, survived: 0, hung: 0 };
for (let made = 0; made < Number(values.count) && found.length > 0; ) {
  // A kind first: most of what could be changed are numbers.
  const kinds = [...new Set(found.map(({ kind }) => kind))];
  const kind = kinds[Math.floor(random() * kinds.length)];
  const some = found.filter((mutant) => mutant.kind === kind);
  const mutant = some[Math.floor(random() * some.length)];
  found.splice(found.indexOf(mutant), 1);
  const end = await endOf(mutant);
  if (end === null) continue;
  made++;
  tally[end]++;
  console.log(`${end.padEnd(9)} ${shown(mutant)}`);
}
console.log(
  Object.entries(tally)
    .map(([end, count]) => `${count} ${end}`)
    .join(", "),
);
process.exit();

/** What the tests say of a mutant; `null` when it is no program. */
async function endOf({ file, source, start, end, text }) {
  const path = join(tree, file);
  const { tests, limitMs } = await areaOf(file);
  writeFileSync(path, source.slice(0, start) + text + source.slice(end));
  try {
    if (spawnSync(process.execPath, ["--check", path]).status !== 0) return null;
    const { isRed, isOver } = await runTests(tree, tests, limitMs);
    return isRed ? "killed" : isOver ? "survived" : "hung";
  } finally {
    writeFileSync(path, source);
  }
}

function shown({ kind, file, source, start, end, text }) {
  const before = source.slice(0, start).split("\n");
  const map = new SourceMap(JSON.parse(readFileSync(join(tree, `${file}.map`), "utf8")));
  const { originalSource, originalLine } = map.findEntry(before.length - 1, before.at(-1).length);
  const where = `${dirname(file).slice("dist/".length)}/${basename(originalSource ?? file)}:${(originalLine ?? 0) + 1}`;
  const change = `${source.slice(start, end).trim()}  ->  ${text.trim()}`;
  return `${where}  ${kind}: ${change}   in   ${lineAt(source, end - 1).trim()}`;
}

/** The compiled files of a file or folder of the source, as `dist/src/…`. */
function sourcesIn(path) {
  const compiled = join("dist", path.replace(/^(?:\.\/)?(?:dist\/)?/, "").replace(/\.ts$/, ".js"));
  const files = filesIn(tree, "dist/src").filter(
    (file) => file === compiled || file.startsWith(`${compiled.replace(/\/$/, "")}/`),
  );
  if (files.length === 0)
    throw new Error(`${path} is no file or folder of the compiled code: name one as in src/serving`);
  return files;
}

/** Numbers in [0, 1) that the seed decides (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
