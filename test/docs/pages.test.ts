import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { openApiDocument } from "../../src/api/http/openapi/openapi-document.ts";
import { TRAITS } from "../../src/serving/prepare/read-manner.ts";
import { sourceFiles } from "../architecture/read-imports.ts";
import { TOP } from "../architecture/top.ts";
import { decoded } from "../audio/recordings/decoded.ts";

/** What is installed, built or fetched: no page may lead there. */
const NOT_OURS =
  /^(?:\.git|node_modules|dist|shared|bench\/\.cache)(?:\/|$)|(?:^|\/)(?:node_modules|\.venv)\//;

const pages = readdirSync(TOP, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".md") && !NOT_OURS.test(file))
  .sort();

test("every link leads to a file, and every anchor to a heading", () => {
  const dead = pages.flatMap((page) =>
    linksOf(page)
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page} links to ${link}`),
  );
  assert.deepEqual(dead, []);
});

test("README.md leads to every page", () => {
  const linked = new Set(linksOf("README.md").map((link) => link.split("#")[0]));
  const unlinked = pages.filter((page) => /^docs\/[^/]+\.md$/.test(page) && !linked.has(page));
  assert.deepEqual(unlinked, []);
});

test("an anchor is GitHub's for its heading", () => {
  const headings =
    "# `POST /v1/tts`, *whole*\n\n## What's next?\n\n```sh\n# no heading\n```\n\n## What's next?\n";
  assert.deepEqual(anchorsIn(headings), ["post-v1tts-whole", "whats-next", "whats-next-1"]);
});

/** The addresses that a page links to or shows as images, but for those of other sites. */
function linksOf(page: string): string[] {
  const prose = withoutFences(readFileSync(join(TOP, page), "utf8")).replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)]
    .map(([, address = ""]) => address)
    .filter((address) => !/^[a-z][a-z0-9+.-]*:/.test(address));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const file = path === "" ? page : posix.join(posix.dirname(page), path);
  if (NOT_OURS.test(file) || !existsSync(join(TOP, file))) return false;
  return anchor === undefined || anchorsIn(readFileSync(join(TOP, file), "utf8")).includes(anchor);
}

/** In small letters, punctuation left out, spaces as hyphens; the second of the same name is numbered. */
function anchorsIn(markdown: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutFences(markdown).matchAll(/^#{1,6} +(.+?)\s*$/gm)].map(([, heading = ""]) => {
    const anchor = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-");
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

function withoutFences(markdown: string): string {
  return markdown.replace(/^(```+|~~~+)[\s\S]*?^\1\s*$/gm, "");
}

test("docs/voices.md has the figures of each manner", () => {
  const page = readFileSync(join(TOP, "docs", "voices.md"), "utf8");
  for (const [trait, [tempo, pitch, range, pause, levelDb]] of TRAITS) {
    const level = `${levelDb > 0 ? "+" : levelDb < 0 ? "−" : ""}${Math.abs(levelDb)}`;
    const row = [trait, tempo, pitch, range, pause, level].map((cell) =>
      cell === 1 || cell === "0" ? "" : cell,
    );
    const line = `|${row.map((cell) => (cell === "" ? " " : ` ${cell} `)).join("|")}|`;
    assert.ok(page.includes(`\n${line}\n`), line);
  }
});

/** What docs/extending.md has its readers write themselves. */
const EXAMPLES = /(?:^|\/)(?:beep|engines\/beep)/;

test("every source file that a page names exists", () => {
  const files = ["src", "test", "bench", "scripts", "training", "playground"].flatMap((folder) =>
    readdirSync(join(TOP, folder), { recursive: true, encoding: "utf8" }).map(
      (name) => `/${folder}/${name.replaceAll("\\", "/")}`,
    ),
  );
  const manual = pages.filter((page) => /^(?:docs\/|README\.md|CONTRIBUTING\.md)/.test(page));
  const gone = manual.flatMap((page) =>
    [...readFileSync(join(TOP, page), "utf8").matchAll(/`([\w./-]+\.ts)`/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !EXAMPLES.test(name) && !files.some((file) => file.endsWith(`/${name}`)))
      .map((name) => `${page} names ${name}`),
  );
  assert.deepEqual(gone, []);
});

const page = readFileSync(join(TOP, "docs/architecture.md"), "utf8");
const diagrams = [...page.matchAll(/^```mermaid\nsequenceDiagram\n([\s\S]*?)^```$/gm)].map(
  ([, diagram = ""]) => diagram,
);

test("every name in the architecture page's diagrams is in the source, and no line has a semicolon", () => {
  const known = new Set(
    sourceFiles(TOP, "src").flatMap((file) => readFileSync(join(TOP, file), "utf8").match(/\w+/g) ?? []),
  );
  const named = diagrams.flatMap(
    (diagram) => diagram.match(/\b(?:[a-z]+|[A-Z][a-z]+)[A-Z]\w+|\b\w+\.[a-z]\w+/g) ?? [],
  );
  assert.ok(named.length > 10, `${named.length} names`);
  const isKnown = (name: string) => name.split(".").every((part) => known.has(part));
  assert.deepEqual([...named.filter((name) => !isKnown(name)), ...diagrams.join().matchAll(/.*;.*/g)], []);
});

test("every path of the API is in /openapi.json", () => {
  const documented = Object.keys((openApiDocument() as { paths: object }).paths);
  const folder = join(TOP, "src/api/http/routes");
  const paths = readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(/"(\/v1\/[^"]+)"/g)].map(([, path = ""]) =>
      path.replaceAll(/:(\w+)/g, "{$1}"),
    ),
  );
  assert.ok(paths.length >= 12, `${paths.length} paths`);
  const missing = paths.filter((path) => !documented.includes(path));
  assert.deepEqual(missing, []);
});

const FOLDER = join(TOP, "docs/samples");
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".mp3"));
const CONVERSATION = "conversation.mp3";
/** Seconds: what is held by voice, or said by everybody, is longer than a line and its answer. */
const MOST_S: Readonly<Record<string, number>> = { [CONVERSATION]: 25, "more-people.mp3": 16 };
const table = readFileSync(join(FOLDER, "README.md"), "utf8");

for (const file of files) {
  test(`docs/samples/${file} is unclipped speech, as long as its page says`, async () => {
    const { samples, sampleRateHz, durationS } = await decoded(readFileSync(join(FOLDER, file)), 30);
    const [, stated] =
      new RegExp(`^\\| \\[${file}\\]\\(${file}\\) .* (\\d+\\.\\d) s \\|$`, "m").exec(table) ?? [];
    const isStated = Math.abs(durationS - Number(stated)) < 0.15;
    assert.ok(isStated, `${durationS} s, and ${stated} in the page's table`);
    assert.ok(durationS > 2 && durationS < (MOST_S[file] ?? 6), `${durationS} s`);
    assert.equal(sampleRateHz, 24_000);
    const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    assert.ok(peak > 0.1 && peak < 0.95, `a peak of ${peak}`);
    const level = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
    assert.ok(level > 0.02, `an RMS of ${level} is no speech`);
  });
}

test("the samples are few and small", () => {
  const lines = files.filter((file) => file !== CONVERSATION);
  const bytes = lines.reduce((sum, file) => sum + readFileSync(join(FOLDER, file)).length, 0);
  assert.ok(lines.length >= 4 && lines.length <= 7, `${lines.length} samples`);
  assert.ok(bytes < 650_000, `${bytes} bytes`);
  assert.ok(readFileSync(join(FOLDER, CONVERSATION)).length < 400_000);
});
