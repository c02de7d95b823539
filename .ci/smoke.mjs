// Starts the server, the built one or the program that is named, with an empty home and data directory, has it say one
// sentence, and tells it to stop.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const START_S = 60;
const GRACE_S = 10;
const KEY = /ant_[0-9A-Za-z]{38}/;
const READY = /^Antiphon is listening on (http:\/\/\S+)$/m;

const program = process.argv[2] ?? "dist/src/cli/main.js";
const home = await mkdtemp(join(tmpdir(), "antiphon-smoke-"));
const server = spawn(
  process.execPath,
  [program, "serve", "--port", "0", "--data-dir", join(home, "data"), "--no-pull"],
  { env: { PATH: process.env.PATH, HOME: home }, stdio: ["ignore", "pipe", "pipe"] },
);
const left = once(server, "exit");
let output = "";
let complaints = "";
server.stderr.setEncoding("utf8").on("data", (text) => {
  complaints += text;
});

try {
  const { base, key } = await within(START_S, "start", Promise.race([ready(), diedEarly()]));
  console.log(`listening on ${base}`);

  assert.equal((await (await fetch(`${base}/health`)).json()).ready, true, "GET /health is not ready");
  assert.equal(
    (await post(base, { text: "Hello." }, null)).status,
    401,
    "a call without a key is let through",
  );

  const reply = await post(
    base,
    { text: "Hello there, how are you today?", params: { temperature: 0 } },
    key,
  );
  assert.equal(reply.status, 200, `POST /v1/tts gives ${reply.status}`);
  const { audio, usage } = await reply.json();
  const wav = Buffer.from(audio.data_b64, "base64");
  assert.equal(wav.toString("latin1", 0, 4) + wav.toString("latin1", 8, 12), "RIFFWAVE");
  assert.equal(wav.readUInt32LE(4), wav.length - 8, "the RIFF size is wrong");
  const format = [wav.readUInt16LE(20), wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)];
  assert.deepEqual(format, [1, 1, 24_000, 16], "not PCM, mono, 24 kHz, 16 bits");
  const seconds = wav.readUInt32LE(40) / 48_000;
  assert.ok(seconds > 0.8 && seconds < 6, `${seconds} s is no length for this sentence`);
  assert.ok(Math.abs(seconds - usage.output_audio_seconds) < 0.01, "metered and sent seconds differ");
  let peak = 0;
  for (let at = 44; at < wav.length; at += 2) peak = Math.max(peak, Math.abs(wav.readInt16LE(at)));
  assert.ok(peak > 1_000, `the loudest sample is ${peak}: silence`);
  console.log(`spoke ${seconds.toFixed(2)} s, peak ${peak}`);

  server.kill("SIGTERM");
  const [code, signal] = await within(GRACE_S, "leave after SIGTERM", left);
  assert.deepEqual([code, signal], [0, null], "it did not leave with exit code 0");
  console.log("left with exit code 0");
} catch (error) {
  console.error(`standard output:\n${output}\nstandard error:\n${complaints}`);
  throw error;
} finally {
  server.kill("SIGKILL");
  await left;
  await rm(home, { recursive: true, force: true });
}

/** Resolves once both the ready line and the first key are printed, wherever the key is. */
function ready() {
  return new Promise((resolve) => {
    const look = () => {
      const base = READY.exec(output)?.[1];
      const key = KEY.exec(output + complaints)?.[0];
      if (base !== undefined && key !== undefined) resolve({ base, key });
    };
    server.stderr.on("data", look);
    server.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
      look();
    });
  });
}

async function diedEarly() {
  const [code, signal] = await left;
  throw new Error(`the server left with ${signal ?? `exit code ${code}`} before it was ready`);
}

function post(base, body, key) {
  return fetch(`${base}/v1/tts`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  });
}

async function within(seconds, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the server took more than ${seconds} s to ${what}`)),
      seconds * 1_000,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
