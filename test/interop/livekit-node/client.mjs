// LiveKit Agents for Node: its OpenAI plugin's speech, which is bare samples, and its transcripts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { initializeLogger } from "@livekit/agents";
import * as openai from "@livekit/agents-plugin-openai";
import { AudioFrame } from "@livekit/rtc-node";
import { KEY, RECORDING, speech, TEXT, transcript, URL_V1 } from "./report.mjs";

const RATE_HZ = 24_000;
const HEADER_BYTES = 44;
/** It gives whole frames of 100 ms alone. */
const FRAME_SAMPLES = RATE_HZ / 10;

initializeLogger({ pretty: false, level: "fatal" });
await say("speech by its defaults", {});
await say("gpt-4o-mini-tts with instructions", {
  model: "gpt-4o-mini-tts",
  voice: "onyx",
  instructions: "In your own way.",
});

await hear("whisper-1 by its defaults", {});
await hear("gpt-transcribe with keywords", {
  model: "gpt-transcribe",
  language: ["en", "de"],
  keywords: ["kettle"],
});
process.exit(0);

async function say(what, options) {
  const tts = new openai.TTS({ baseURL: URL_V1, apiKey: KEY, ...options });
  const began = performance.now();
  let firstS = null;
  const pieces = [];
  for await (const { frame } of tts.synthesize(TEXT)) {
    firstS ??= (performance.now() - began) / 1_000;
    assert.deepEqual([frame.sampleRate, frame.channels], [RATE_HZ, 1]);
    pieces.push(Buffer.from(frame.data.buffer, frame.data.byteOffset, frame.data.byteLength));
  }
  const { voice = "alloy" } = options;
  speech(what, Buffer.concat(pieces), {
    voice,
    format: "pcm",
    rate: RATE_HZ,
    firstS,
    mayLack: FRAME_SAMPLES - 1,
  });
  await tts.close();
}

async function hear(what, options) {
  const stt = new openai.STT({ baseURL: URL_V1, apiKey: KEY, useRealtime: false, ...options });
  // A copy: the plugin sends the whole of the buffer below.
  const samples = new Int16Array(new Uint8Array(readFileSync(RECORDING)).slice(HEADER_BYTES).buffer);
  const { alternatives } = await stt.recognize(new AudioFrame(samples, RATE_HZ, 1, samples.length));
  assert.equal(alternatives[0].language, "en");
  transcript(what, alternatives[0].text);
}
