import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../src/audio/format.ts";
import { createRemoteModel } from "../../src/engines/remote/remote-model.ts";
import { plainScript } from "../plain-script.ts";
import type { Called, Calls } from "./calls.ts";

/** Asks endpoints for speech, in a process of its own: answers each line of JSON, some {@link Calls}, with what they took. */
const agent = new Agent({ keepAlive: true });
process.stdout.write("{}\n");

for await (const line of createInterface({ input: process.stdin })) {
  const calls = JSON.parse(line) as Calls;
  const say = calls.how === "bare" ? bare(calls) : model(calls);
  await say();
  const begun = process.cpuUsage();
  const said = await Promise.all(Array.from({ length: calls.streams }, () => say()));
  const { user, system } = process.cpuUsage(begun);
  const called: Called = {
    cpuS: (user + system) / 1e6,
    audioS: said.reduce((sum, { samples }) => sum + samples, 0) / SAMPLE_RATE_HZ,
    firstMs: said.map(({ firstMs }) => firstMs),
  };
  process.stdout.write(`${JSON.stringify(called)}\n`);
}

type Say = () => Promise<{ readonly samples: number; readonly firstMs: number }>;

/** A client that does nothing but read. The first frame is there with its last byte. */
function bare({ url, key, text }: Calls): Say {
  const { hostname, port } = new URL(url);
  const body = JSON.stringify({ model: "tts-1", voice: "0", input: text, response_format: "wav" });
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    Authorization: `Bearer ${key}`,
  };
  return () =>
    new Promise((resolve, reject) => {
      const begunMs = performance.now();
      let bytes = 0;
      let firstMs: number | null = null;
      const path = "/v1/audio/speech";
      const post = request({ hostname, port, path, method: "POST", agent, headers }, (answer) => {
        answer.on("data", (piece: Buffer) => {
          bytes += piece.length;
          if (bytes >= 2 * FRAME_SAMPLES) firstMs ??= performance.now() - begunMs;
        });
        answer.on("end", () => resolve({ samples: (bytes - 44) / 2, firstMs: firstMs ?? Number.NaN }));
        answer.on("error", reject);
      });
      post.on("error", reject);
      post.end(body);
    });
}

function model({ url, key, text, how }: Calls): Say {
  const elsewhere = createRemoteModel({
    name: "bench",
    kind: how === "antiphon" ? "antiphon" : "openai",
    urls: [`${url}/v1`],
    model: how === "antiphon" ? null : "tts-1",
    voices: { "0": "0" },
    format: "wav",
    sampleRateHz: SAMPLE_RATE_HZ,
    references: false,
    apiKey: key,
    firstSoundTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
  });
  return async () => {
    const begunMs = performance.now();
    let samples = 0;
    let firstMs: number | null = null;
    const script = plainScript(text, "0");
    for await (const frame of elsewhere.speak(script, new AbortController().signal)) {
      samples += frame.samples.length;
      firstMs ??= performance.now() - begunMs;
    }
    return { samples, firstMs: firstMs ?? Number.NaN };
  };
}
