import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../src/engines/prosody/random.ts";
import { StreamClient } from "../../test/api/realtime/stream-client.ts";
import { wavOf } from "../hearing/hearing-server.ts";
import type { ServerProcess } from "../load/server-process.ts";
import { TEN_WORDS, TURNS } from "../load/service-speed.ts";
import { ask } from "../peers/ask.ts";
import { converse } from "../realtime/exchange.ts";
import type { Turn } from "../realtime/people.ts";
import { SimulatedUser } from "../realtime/simulated-user.ts";
import { upload } from "../recordings/upload.ts";
import type { RequestKind } from "./repeat-requests.ts";

const VOICES = ["maya", "theo", "greta", "milo", "pia", "clara", "hugo", "bruno", "onyx", "anna"];
const FORMATS = ["mp3", "opus", "pcm", "mulaw", "wav", "flac"];
const STREAM_FORMATS = ["mp3_44100_128", "opus_48000_64", "pcm_24000", "ulaw_8000"];
const [SPEECH, CUSTOM_VOICES] = ["/v1/audio/speech", "/v1/audio/voices"];

/** Kinds that a server without a recogniser cannot answer. */
export const SPOKEN_KINDS: readonly string[] = ["spoken turn", "transcription", "realtime session"];

/**
 * Returns kinds that together take 0.6 to 0.9 of a core of an AMD EPYC.
 *
 * @param files recordings in all formats that can be transcribed
 */
export function requestKinds(
  server: ServerProcess,
  turns: readonly Turn[],
  files: readonly Uint8Array[],
  onFirstAudio: (ms: number) => void,
): readonly RequestKind[] {
  const { url, key } = server;
  const headers = { authorization: `Bearer ${key}` };
  const kind = (name: string, everyS: number, send: RequestKind["send"]) => ({ name, everyS, send });
  const post = (name: string, everyS: number, path: string, body: (random: Random) => object) =>
    kind(name, everyS, async (random, leaves) => {
      const sent = body(random);
      const leave = leaves ? { leaveAfterMs: 10 + 200 * random.uniform() } : {};
      const to = { url: `${url}${path}`, headers, headerBytes: 0 };
      const { status, failure, pcm, firstAudioMs, error } = await ask(to, JSON.stringify(sent), leave);
      if (failure === "left") return "left";
      const isStream = "stream_format" in sent || path.endsWith("/stream");
      if (status === 502 && isStream && error.includes("at its capacity")) return "refused";
      assert.equal(failure ?? status, 200, failure ?? `status ${status}`);
      const text = Buffer.from(pcm.buffer).toString("latin1");
      assert.ok(!/^event: error|"type":"error"/m.test(text), "an error event");
      if ("stream_format" in sent && firstAudioMs !== null) onFirstAudio(firstAudioMs);
    });
  async function expect(expected: number, path: string, init: RequestInit = {}): Promise<void> {
    const reply = await fetch(`${url}${path}`, { ...init, headers: { ...headers, ...init.headers } });
    await reply.arrayBuffer();
    assert.equal(reply.status, expected, `${path}: status ${reply.status} instead of ${expected}`);
  }
  const json = (body: object) => {
    return { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  };
  const voiceForm = (name: string, bytes: Uint8Array) => {
    const body = new FormData();
    body.set("name", name);
    body.set("consent", "Given.");
    body.set("audio_sample", new Blob([Buffer.from(bytes)]), "recording");
    return { method: "POST", body };
  };
  const spoken = (random: Random) => ({ input: pick(TURNS, random), voice: pick(VOICES, random) });
  const recording = (random: Random) => {
    return { audio_wav_b64: Buffer.from(wavOf(pick(turns, random))).toString("base64") };
  };
  const refusals: readonly (readonly [status: number, path: string, init?: RequestInit])[] = [
    [401, "/v1/usage", { headers: { authorization: "Bearer ant_wrong" } }],
    [422, SPEECH, json({ input: "" })],
    [422, SPEECH, { ...json({}), body: '{"input": "x' }],
    [400, SPEECH, json({ input: "Hello.", voice: "no such voice" })],
    [422, "/v1/tts", json({ text: "a".repeat(9_000) })],
    [400, "/v1/converse", json({ conversation: [{ audio_wav_b64: "UklGRg==" }, { speaker: "1" }] })],
    [400, CUSTOM_VOICES, voiceForm("noise", Buffer.alloc(99))],
    [426, "/v1/realtime"],
  ];
  let [refusal, voices] = [0, 0];
  return [
    post("speech", 0.35, SPEECH, (random) => {
      return { ...spoken(random), response_format: pick(FORMATS, random), stream_format: "audio" };
    }),
    post("speech as events", 2, SPEECH, (random) => {
      return { ...spoken(random), stream_format: "sse", visemes: true, loudness: -16 };
    }),
    post("long text", 30, SPEECH, (random) => ({ ...spoken(random), input: TEN_WORDS.join(" ") })),
    post("tts", 1, "/v1/tts", (random) => ({ text: pick(TEN_WORDS, random), voice: pick(VOICES, random) })),
    post("dialogue", 10, "/v1/audio/dialogue", (random) => {
      const line = () => ({ voice: pick(VOICES, random), text: pick(TEN_WORDS, random) });
      return { lines: Array.from({ length: 8 }, line) };
    }),
    post("followed voice", 10, "/v1/converse/stream", (random) => {
      return {
        conversation: [{ ...recording(random), text: "Good morning." }, { text: pick(TURNS, random) }],
      };
    }),
    post("spoken turn", 10, "/v1/converse", (random) => {
      return { conversation: [recording(random), { speaker: "1" }] };
    }),
    kind("transcription", 10, async (random, leaves) => {
      const leaveAfterMs = leaves ? 500 * random.uniform() : null;
      const status = await upload({ url, key, bytes: pick(files, random), leaveAfterMs });
      if (status === null) return "left";
      assert.equal(status, 200, `status ${status}`);
    }),
    kind("realtime session", 30, async (random, leaves) => {
      const user = await SimulatedUser.open({ url, key, seed: Math.floor(2 ** 31 * random.uniform()) });
      try {
        if (leaves) {
          await user.say(pick(turns, user.random));
          await sleep(1_000 * user.random.uniform());
          return "left";
        }
        await converse(user, turns, { count: 3 });
        const { error } = user.since("error", 0)?.event ?? {};
        assert.equal(error, undefined, JSON.stringify(error));
        const statuses = user.replies.map(({ status }) => status);
        assert.ok(statuses.includes("completed"), `replies: ${statuses}`);
      } finally {
        await user.close();
      }
    }),
    kind("streamed text", 5, async (random, leaves) => {
      const [{ input, voice }, format] = [spoken(random), pick(STREAM_FORMATS, random)];
      const path = `${voice}/stream-input?output_format=${format}`;
      const client = await StreamClient.open(server, { path });
      try {
        client.send(...` ${input} `.split(/(?<= )/).map((text) => ({ text })), { text: "" });
        await client.first("audio", ({ audio, isFinal }) => isFinal === true || (leaves && audio !== null));
        return leaves ? "left" : undefined;
      } finally {
        client.socket.terminate();
      }
    }),
    kind("custom voice", 20, async (random) => {
      voices += 1;
      const [name, file] = [`soak-${voices}`, pick(files, random)];
      const speech = json({ ...spoken(random), voice: name });
      await expect(200, CUSTOM_VOICES, voiceForm(name, file));
      await expect(200, SPEECH, speech);
      await expect(200, `${CUSTOM_VOICES}/${name}`, { method: "DELETE" });
      await expect(400, SPEECH, speech);
    }),
    kind("bad input", 3, async () => {
      refusal += 1;
      await expect(...refusals[refusal % refusals.length]!);
    }),
  ];
}

function pick<T>(values: readonly T[], random: Random): T {
  return values[Math.floor(values.length * random.uniform())]!;
}
