import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { TOP } from "../architecture/top.ts";

const { exports, sideEffects } = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8"));
const ENTRIES = ["./client", "./client/player", "./client/realtime", "./client/captions", "./client/script"];

test("the package exports types first and has no side effects", () => {
  for (const entry of ENTRIES) assert.deepEqual(Object.keys(exports[entry]), ["types", "default"]);
  assert.equal(sideEffects, false);
});

test("every entry resolves for import and require", async () => {
  const require = createRequire(join(TOP, "dist/test/client/package.test.js"));
  for (const [entry, name] of [
    ["antiphon/client", "Antiphon"],
    ["antiphon/client/player", "Player"],
    ["antiphon/client/realtime", "RealtimeConversation"],
    ["antiphon/client/captions", "cuesOf"],
    ["antiphon/client/script", "parseScript"],
  ] as const) {
    const module = await import(require.resolve(entry));
    assert.equal(typeof module[name], "function");
  }
});

const PROGRAM = `
import { Antiphon, AntiphonError, type StreamEvent, type Word } from "antiphon/client";
import { Player } from "antiphon/client/player";
import { RealtimeConversation, type RealtimeTurn } from "antiphon/client/realtime";
import { cuesOf, toVtt } from "antiphon/client/captions";

const antiphon: Antiphon = new Antiphon({ baseUrl: "", fetch: globalThis.fetch });
const player = new Player({ context: new AudioContext({ sampleRate: 24_000 }), onWord: (word: Word) => word.start });
const stream: AsyncIterable<StreamEvent> = antiphon.stream({ conversation: [{ text: "Hi." }] });
for await (const event of stream) {
  if (event.event === "audio") player.add(event.pcm);
  else if (event.event === "end") toVtt(cuesOf(event.data.meta.words ?? [], event.data.text));
}
const text: string = await antiphon.transcribe({ file: new Blob(), response_format: "vtt" });
const { segments } = await antiphon.transcribe({ file: new Blob(), response_format: "verbose_json" });
antiphon.tts({ text }).catch((error) => error instanceof AntiphonError && error.retryAfterMs);
const conversation = new RealtimeConversation({
  baseUrl: "",
  apiKey: "ek_",
  WebSocket,
  openPlayer: (events) => new Player(events),
  onTurn: (turn: RealtimeTurn | null) => turn?.text,
});
await conversation.connect();
conversation.hear(new Int16Array(480));
export const first = segments?.[0]?.text;
// @ts-expect-error: there is no such parameter
await antiphon.tts({ text, params: { warmth: 1 } });
`;

test("a TypeScript program compiles with the package's types, without Node's", () => {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-types-"));
  try {
    const installed = join(folder, "node_modules/antiphon");
    mkdirSync(installed, { recursive: true });
    for (const part of ["dist/src/client", "dist/src/core/captions"])
      cpSync(join(TOP, part), join(installed, part), { recursive: true });
    cpSync(join(TOP, "package.json"), join(installed, "package.json"));
    writeFileSync(join(folder, "program.mts"), PROGRAM);
    const options = { strict: true, noEmit: true, module: "nodenext", target: "es2022", skipLibCheck: false };
    const lib = ["es2023", "dom", "dom.iterable"];
    const config = { compilerOptions: { ...options, types: [], lib }, files: ["program.mts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(TOP, "node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Maximum bytes of each module, minified and compressed. */
const BUDGETS = {
  "client/antiphon": 3_500,
  "client/player": 3 * 1_024,
  "client/realtime": 4 * 1_024,
  "core/captions/captions": 2_200,
};

for (const [name, budget] of Object.entries(BUDGETS)) {
  test(`${name} with its imports has at most ${budget} bytes and runs in a browser`, () => {
    const { outputFiles } = buildSync({
      entryPoints: [join(TOP, `dist/src/${name}.js`)],
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      write: false,
    });
    const size = gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
    assert.ok(size <= budget, `${size} bytes`);
    assert.doesNotMatch(outputFiles[0]!.text, /\bBuffer\b|\bimport\b|\brequire\b/);
  });
}
