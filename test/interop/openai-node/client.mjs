// OpenAI's own package for Node: models, speech in every format and way, transcripts, and errors by type.

import assert from "node:assert/strict";
import { createReadStream, readFileSync } from "node:fs";
import OpenAI from "openai";
import { KEY, passed, RECORDING, speech, TEXT, TRANSCRIPT, transcript, URL_V1 } from "./report.mjs";

const client = new OpenAI({ baseURL: URL_V1, apiKey: KEY, maxRetries: 0 });
const ask = (options) =>
  client.audio.speech.create({ model: "tts-1", voice: "alloy", input: TEXT, ...options });

const { data } = await client.models.list();
assert.equal((await client.models.retrieve(data[0].id)).id, data[0].id);
passed("models are listed, and one is looked up");

const plain = await ask({});
assert.equal(plain.headers.get("content-type"), "audio/mpeg");
speech("speech without a format", await bytesOf(plain), { voice: "alloy", format: "mp3" });
for (const format of ["mp3", "opus", "flac", "wav", "pcm"]) {
  const whole = await bytesOf(await ask({ response_format: format }));
  speech(`${format} in one piece`, whole, { voice: "alloy", format });
  for (const stream_format of ["audio", "sse"]) {
    const began = performance.now();
    const reply = await ask({
      model: "gpt-4o-mini-tts",
      voice: "onyx",
      response_format: format,
      stream_format,
    });
    let first = null;
    const pieces = [];
    for await (const piece of reply.body) {
      first ??= (performance.now() - began) / 1_000;
      pieces.push(piece);
    }
    const came = Buffer.concat(pieces);
    const audio = stream_format === "sse" ? joinedDeltas(`${came}`) : came;
    const way = stream_format === "sse" ? "in events" : "as it comes";
    speech(`${format} ${way}`, audio, { voice: "onyx", format, firstS: first });
  }
}
await assert.rejects(ask({ response_format: "aac" }), OpenAI.BadRequestError);
await assert.rejects(ask({ input: undefined }), OpenAI.UnprocessableEntityError);
const stranger = new OpenAI({ baseURL: URL_V1, apiKey: "ant_stranger", maxRetries: 0 });
await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
passed("what is refused raises errors of their types");

const hear = (options) =>
  client.audio.transcriptions.create({
    file: createReadStream(RECORDING),
    model: "gpt-4o-transcribe",
    ...options,
  });
transcript("a transcript", (await hear({})).text);
const file = await OpenAI.toFile(readFileSync(RECORDING), "speech.wav");
transcript(
  "a transcript of a file in memory",
  (await hear({ file, model: "whisper-1", language: "en" })).text,
);
const verbose = await hear({ response_format: "verbose_json", timestamp_granularities: ["word"] });
assert.deepEqual(
  verbose.words.map(({ word }) => word),
  TRANSCRIPT.split(" "),
);
transcript("with the times of words", verbose.text);
let text = "";
for await (const event of await hear({ stream: true })) {
  if (event.type === "transcript.text.delta") text += event.delta;
}
transcript("in events", text);
const translation = await client.audio.translations.create({ file, model: "whisper-1" });
transcript("a translation", translation.text);

async function bytesOf(reply) {
  return Buffer.from(await reply.arrayBuffer());
}

function joinedDeltas(stream) {
  const events = stream
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => JSON.parse(block.slice(6)));
  const deltas = events.filter(({ type }) => type === "speech.audio.delta");
  return Buffer.concat(deltas.map(({ audio }) => Buffer.from(audio, "base64")));
}
