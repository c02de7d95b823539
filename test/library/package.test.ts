import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TOP } from "../architecture/top.ts";
import { temporaryFolder } from "../e2e/folders.ts";

const PROGRAM = `
import { type Antiphon, AntiphonError, open, SAMPLE_RATE, type Speech, type SpeechFrame, type Transcript } from "antiphon";

async function main(): Promise<number> {
  const antiphon: Antiphon = await open({ dataDir: "data", writer: { kind: "none" } });
  const leaving = new AbortController();
  const speech: Speech = antiphon.say("Hi.", { voice: "nova", params: { temperature: 0 }, signal: leaving.signal });
  const frames: SpeechFrame[] = [];
  for await (const frame of speech) frames.push(frame);
  frames.push((await antiphon.say("Hi.").next()).value as SpeechFrame);
  const { duration, stop }: { duration: number; stop: "finished" | "length" } = await speech.end;
  const turns = [{ speaker: "0", audio: new Float32Array(SAMPLE_RATE) }, { speaker: "1", text: "And then?" }];
  for await (const { words } of antiphon.converse(turns, { voices: { 1: "onyx" } })) words.map(({ word }) => word.length);
  for await (const { words } of antiphon.dialogue("Anna: Hi.", { voices: { Anna: "onyx" }, gap: 0.5 })) words.map(({ speaker }) => speaker?.length);
  const { text, segments }: Transcript = await antiphon.transcribe(process.stdin, { language: "en", words: true });
  const [sentence = text] = await antiphon.phonemes("Hi.");
  await antiphon.close().catch((error) => error instanceof AntiphonError && [error.code, error.field]);
  // @ts-expect-error: there is no such option
  antiphon.say("Hi.", { vioce: "nova" });
  return frames.length + duration + stop.length + segments.length + sentence.length;
}
void main();
`;

test("a TypeScript program type-checks against the library, as ESM and CommonJS", () => {
  const folder = temporaryFolder();
  const installed = join(folder, "node_modules/antiphon");
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  cpSync(join(TOP, "dist/src/library"), join(installed, "dist/src/library"), { recursive: true });
  cpSync(join(TOP, "package.json"), join(installed, "package.json"));
  for (const name of ["@types/node", "undici-types"])
    symlinkSync(join(TOP, "node_modules", name), join(folder, "node_modules", name));
  for (const name of ["program.mts", "program.cts"]) writeFileSync(join(folder, name), PROGRAM);
  for (const [module, moduleResolution, target, files] of [
    ["node16", "node16", "es2020", ["program.mts", "program.cts"]],
    ["nodenext", "nodenext", "es2022", ["program.mts", "program.cts"]],
    ["esnext", "bundler", "es2022", ["program.mts"]],
  ] as const) {
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false },
      ...{ types: ["node"], module, moduleResolution, target },
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    const tsc = join(TOP, "node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    assert.equal(status, 0, `${module}: ${stdout}`);
  }
});
