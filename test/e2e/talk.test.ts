import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startTestServer } from "../api/http/start.ts";
import { ScriptedRecogniser, segmentOf } from "../recognition/scripted-recogniser.ts";
import { line } from "../recognition/turn-detection/line.ts";
import { until, within } from "../waiting.ts";
import { ScriptedWriter } from "../writers/scripted-writer.ts";
import { temporaryFolder } from "./folders.ts";
import { antiphon, type Finished, finished, launchAntiphon } from "./program.ts";
import { WITHOUT_MODELS } from "./server-process.ts";

/** Plays the sentence once in real time, then silence. */
const RECORDER = `
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const pcm = readFileSync(join(__dirname, "line.pcm"));
const begun = performance.now();
let at = 0;
setInterval(() => {
  for (; at < performance.now() - begun; at += 20) {
    const piece = Buffer.alloc(960);
    pcm.subarray(48 * at, 48 * at + 960).copy(piece);
    process.stdout.write(piece);
  }
}, 10);
`;

const PLAYER = `
const { appendFileSync } = require("node:fs");
const { join } = require("node:path");
process.stdin.on("data", (chunk) => appendFileSync(join(__dirname, "played.pcm"), chunk));
`;

/** Returns a folder of stand-ins for a microphone and headphones. */
async function soundPrograms(): Promise<string> {
  const folder = temporaryFolder();
  for (const [name, program] of Object.entries({ arecord: RECORDER, aplay: PLAYER })) {
    writeFileSync(join(folder, name), `#!${process.execPath}\n${program}`);
    chmodSync(join(folder, name), 0o755);
  }
  const samples = (await line()).subarray(0, 25_600);
  // Resamples from 16 to 24 kHz.
  const up = Int16Array.from({ length: Math.floor(1.5 * samples.length) }, (_, index) => {
    const at = Math.floor(index / 1.5);
    const share = index / 1.5 - at;
    return 32_767 * ((1 - share) * samples[at]! + share * (samples[at + 1] ?? 0));
  });
  writeFileSync(join(folder, "line.pcm"), Buffer.from(up.buffer));
  return folder;
}

function watched(child: ChildProcess): { printed(): string; messages(): string; ended: Promise<Finished> } {
  let [out, err] = ["", ""];
  child.stdout?.on("data", (chunk) => (out += chunk));
  child.stderr?.on("data", (chunk) => (err += chunk));
  return { printed: () => out, messages: () => err, ended: finished(child) };
}

describe("antiphon talk", () => {
  it("transcribes a microphone, prints both sides, plays replies, and ends by Ctrl-C", async () => {
    const PATH = await soundPrograms();
    const server = await startTestServer({
      writer: new ScriptedWriter(["It is on the fire."]),
      recogniser: new ScriptedRecogniser([segmentOf("Is the kettle on?", 0)]),
    });
    try {
      const env = { PATH, ANTIPHON_KEY: server.key };
      const child = launchAntiphon(["talk", "--url", server.url], { env });
      const { printed, messages, ended } = watched(child);
      await until("the answer", () => printed().includes("Antiphon: It is on the fire.\n"), {
        deadlineMs: 60_000,
      });
      assert.match(printed(), /^You: Is the kettle on\?\nAntiphon: It is on the fire\.\n/);
      assert.match(messages(), /^Speak, or type a line\. Wear headphones/);
      assert.ok(!messages().includes(server.key));
      assert.ok(
        readFileSync(join(PATH, "played.pcm")).length >= 48_000 * 0.06 * "It is on the fire.".length - 4_000,
      );
      child.kill("SIGINT");
      const { code } = await within("the end", ended);
      assert.equal(code, 0);
    } finally {
      await server.stop();
    }
  });

  it("starts its own server without --url, and creates no keys", async () => {
    const PATH = await soundPrograms();
    const dataDir = join(temporaryFolder(), "data");
    const env = { PATH, ...WITHOUT_MODELS };
    const child = launchAntiphon(["talk", "--data-dir", dataDir], { env });
    const { messages, ended } = watched(child);
    await until("the turn to be answered for", () => messages().includes("could not be transcribed"), {
      deadlineMs: 60_000,
    });
    child.kill("SIGINT");
    assert.equal((await within("the end", ended, { deadlineMs: 60_000 })).code, 0);
    assert.ok(!existsSync(join(dataDir, "antiphon.db")));
  });

  it("reports what is missing: a recorder, a player, a key, a server", async () => {
    const PATH = await soundPrograms();
    const empty = temporaryFolder();
    const none = await antiphon(["talk"], { env: { PATH: empty } });
    assert.equal(none.code, 1);
    assert.match(none.stderr, /^No program that records was found on this machine: install one of parec/);
    const silent = temporaryFolder();
    writeFileSync(join(silent, "arecord"), "");
    const mute = await antiphon(["talk"], { env: { PATH: silent } });
    assert.equal(mute.code, 1);
    assert.match(mute.stderr, /^No program that plays was found on this machine: install one of pacat/);
    const keyless = await antiphon(["talk", "--url", "http://127.0.0.1:9"], { env: { PATH } });
    assert.equal(keyless.code, 2);
    assert.match(keyless.stderr, /ANTIPHON_KEY/);
    const unreachable = await antiphon(["talk", "--url", "http://127.0.0.1:9"], {
      env: { PATH, ANTIPHON_KEY: "ant_x" },
    });
    assert.equal(unreachable.code, 1);
    assert.match(unreachable.stderr, /^The server cannot be reached\.\n$/);
  });
});
