// Makes docs/samples/conversation.mp3: a spoken conversation with an interruption, as it was held over /v1/realtime.
//
//   npm run build && node scripts/conversation-sample.mjs
//
// The user is our own voice 1, which says its lines in real time; voice 0 answers with the embedded writer. Both are mixed as in a
// room: pauses are those of the machine, so run it when nothing else does. Nothing is cut or moved.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Antiphon, bytesOf } from "antiphon/client";
import { WebSocket } from "ws";
import { decodeWav } from "../dist/src/audio/decode-wav.js";
import { openEncoder } from "../dist/src/audio/encode/open-encoder.js";
import { fromPcm16, toPcm16 } from "../dist/src/audio/pcm.js";
import { startSampleServer } from "./sample-server.mjs";

const INTO = fileURLToPath(new URL("../docs/samples/conversation.mp3", import.meta.url));
const RATE_HZ = 24_000;
const CHUNK_MS = 20;
const CHUNK = (RATE_HZ * CHUNK_MS) / 1_000;
/** Of the room, so that nobody is in a vacuum. */
const ROOM_RMS = 0.0008;
/** What the user says; `into`: seconds of a reply after which they interrupt it. */
const LINES = [
  { text: "We finally adopted a puppy." },
  { text: "His name is Biscuit and he ate my shoes." },
  { text: "Wait, I can hear him barking.", into: 1.1 },
];
/** An answer that came later is the machine's fault, and no sample. */
const MAX_ANSWER_S = 1.2;

const server = await startSampleServer();
try {
  const { baseUrl, apiKey } = server;
  const antiphon = new Antiphon({ baseUrl, apiKey, maxRetries: 100 });
  const clips = [];
  for (const { text } of LINES) {
    const { audio } = await antiphon.tts({ text, speaker: "1", params: { temperature: 0 } });
    clips.push(decodeWav(bytesOf(audio.data_b64)).samples);
  }
  // Loads the writer and the recogniser: nobody waits for that in a conversation.
  await converse(baseUrl, apiKey, clips.slice(0, 1));
  const { samples, slowestS } = await converse(baseUrl, apiKey, clips);
  if (slowestS > MAX_ANSWER_S) throw new Error("the machine is busy: run this again when it is not");
  const encoder = await openEncoder("mp3");
  const file = Buffer.concat([encoder.push(toPcm16(samples)), encoder.end()]);
  encoder.free();
  writeFileSync(INTO, file);
  console.log(`conversation.mp3: ${(samples.length / RATE_HZ).toFixed(1)} s, ${file.length} bytes`);
} finally {
  await server.stop();
}

/** Holds the conversation. @returns what was heard in the room, from shortly before the first word on, and the slowest answer */
async function converse(baseUrl, apiKey, clips) {
  const socket = new WebSocket(`${baseUrl.replace("http", "ws")}/v1/realtime`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  await once(socket, "open");
  const beganMs = performance.now();
  const nowS = () => (performance.now() - beganMs) / 1_000;
  const room = new Float32Array(90 * RATE_HZ);
  const reply = { id: null, pieces: [], fromS: null, isDone: false };
  let speech = null;
  let spokenAtS = 0;
  let slowestS = 0;
  let said = () => {};
  let changed = () => {};
  const send = (event) => socket.send(JSON.stringify(event));

  /** The player: a reply sounds from its first piece on, to its end or to where it was interrupted. */
  const play = (toS) => {
    if (reply.fromS === null) return 0;
    let at = Math.round(reply.fromS * RATE_HZ);
    const from = at;
    for (const piece of reply.pieces) {
      for (const value of piece) {
        if (at >= toS * RATE_HZ) return (at - from) / RATE_HZ;
        room[at++] += value;
      }
    }
    return (at - from) / RATE_HZ;
  };
  const lengthS = () => reply.pieces.reduce((sum, { length }) => sum + length, 0) / RATE_HZ;
  const isPlaying = () => reply.fromS !== null && nowS() < reply.fromS + lengthS();
  const flush = (toS) => {
    play(toS);
    reply.pieces = [];
    reply.fromS = null;
  };

  socket.on("message", (data) => {
    const event = JSON.parse(`${data}`);
    if (event.type === "error") console.log(event.error.message);
    if (event.type === "response.created") {
      flush(Number.POSITIVE_INFINITY);
      reply.isDone = false;
    }
    if (event.type === "response.output_audio.delta") {
      if (reply.fromS === null) {
        reply.fromS = nowS();
        const answeredS = reply.fromS - spokenAtS;
        slowestS = Math.max(slowestS, answeredS);
        console.log(`  answered after ${Math.round(1_000 * answeredS)} ms`);
      }
      reply.id = event.item_id;
      const bytes = Buffer.from(event.delta, "base64");
      reply.pieces.push(fromPcm16(new Int16Array(Uint8Array.from(bytes).buffer)));
    }
    if (event.type === "input_audio_buffer.speech_started" && isPlaying()) {
      const audio_end_ms = Math.round(1_000 * (nowS() - reply.fromS));
      flush(nowS());
      send({ type: "conversation.item.truncate", item_id: reply.id, content_index: 0, audio_end_ms });
    }
    if (event.type === "conversation.item.input_audio_transcription.completed")
      console.log(`user: ${event.transcript}`);
    if (event.type === "response.output_audio_transcript.done") console.log(`reply: ${event.transcript}`);
    if (event.type === "response.done") reply.isDone = true;
    changed();
  });
  const until = async (isSo) => {
    while (!isSo()) await Promise.race([sleep(20), new Promise((resolve) => (changed = resolve))]);
  };
  send({
    type: "session.update",
    session: {
      type: "realtime",
      audio: {
        input: { transcription: {}, turn_detection: { type: "semantic_vad" } },
        output: { voice: "0" },
      },
    },
  });

  let isOver = false;
  const microphone = async () => {
    for (let chunk = 0; !isOver; chunk++) {
      await sleep(Math.max(0, beganMs + chunk * CHUNK_MS - performance.now()));
      const samples = new Float32Array(CHUNK);
      for (let at = 0; at < CHUNK; at++) samples[at] = ROOM_RMS * Math.sqrt(3) * (2 * Math.random() - 1);
      if (speech !== null) {
        const piece = speech.samples.subarray(speech.at, speech.at + CHUNK);
        piece.forEach((value, at) => {
          samples[at] += value;
        });
        speech.at += CHUNK;
        if (speech.at >= speech.samples.length) {
          speech = null;
          spokenAtS = nowS();
          said();
        }
      }
      samples.forEach((value, at) => {
        room[chunk * CHUNK + at] += value;
      });
      const pcm = toPcm16(samples);
      send({
        type: "input_audio_buffer.append",
        audio: Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength).toString("base64"),
      });
    }
  };
  const listening = microphone();
  await sleep(500);
  const firstS = nowS() - 0.3;
  for (const [at, samples] of clips.entries()) {
    const { into } = LINES[at];
    if (into !== undefined) await until(() => reply.fromS !== null && nowS() - reply.fromS > into);
    else if (at > 0) await sleep(500);
    if (into === undefined) flush(Number.POSITIVE_INFINITY);
    const saying = new Promise((resolve) => (said = resolve));
    speech = { samples, at: 0 };
    await saying;
    // Whoever is to be interrupted is not heard to the end.
    if (LINES[at + 1]?.into !== undefined && at + 1 < clips.length) await until(() => reply.fromS !== null);
    else await until(() => reply.isDone && reply.fromS !== null && !isPlaying() && speech === null);
  }
  const endS = nowS() + 0.4;
  flush(Number.POSITIVE_INFINITY);
  isOver = true;
  await listening;
  socket.close();
  return { samples: room.slice(Math.round(firstS * RATE_HZ), Math.round(endS * RATE_HZ)), slowestS };
}
