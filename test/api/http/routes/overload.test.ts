import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { encodedSpeech } from "../../../../src/core/encoded-speech.ts";
import type { EncodedPiece, SpeechReport } from "../../../../src/core/speech-model.ts";
import type { LoadableCheckpoint } from "../../../../src/models/checkpoint-cache.ts";
import { createToneModel } from "../../../core/tone-model.ts";
import { frameGate, startTestServer, type TestServer } from "../start.ts";

let server: TestServer;
afterEach(() => server?.stop());

const TEXT = "A sentence that takes some seconds to say. ".repeat(4);
const STREAM = { conversation: [{ text: TEXT }] };
const REQUESTS: readonly (readonly [path: string, body: object])[] = [
  ["/v1/converse/stream", STREAM],
  ["/v1/audio/speech", { input: TEXT }],
  ["/v1/audio/speech", { input: TEXT, stream_format: "sse" }],
];

/** Tones that report a thread's time of half a second for each frame, and wait for the gate after the first second. */
function slowTones(gate: ReturnType<typeof frameGate>): LoadableCheckpoint {
  return {
    name: "heart",
    memoryBytes: 1,
    async load() {
      const tone = await createToneModel(gate.tone);
      return {
        ...tone,
        async *speakEncoded(script, encoding, signal): AsyncGenerator<EncodedPiece, SpeechReport, void> {
          const pieces = encodedSpeech(tone.speak(script, signal), encoding, script.seed);
          for (;;) {
            const step = await pieces.next();
            if (step.done) return step.value;
            yield { ...step.value, computeMs: 500 };
          }
        },
      };
    },
  };
}

/** Starts a server with one stream that has begun, on a machine that is too slow for a second one. */
async function startOverloaded() {
  const gate = frameGate((index) => index > 20);
  server = await startTestServer({ checkpoints: [slowTones(gate)] });
  const first = await server.post("/v1/converse/stream", STREAM);
  const reader = first.body!.getReader();
  let text = "";
  while (text.split("event: audio").length <= 20)
    text += new TextDecoder().decode((await reader.read()).value);
  const rest = async () => {
    for (let step = await reader.read(); !step.done; step = await reader.read())
      text += new TextDecoder().decode(step.value);
    return text;
  };
  return { gate, rest };
}

describe("A server that is too slow for another stream", () => {
  test("refuses every kind of stream with 502 and a time to retry, and finishes the first", async () => {
    const { gate, rest } = await startOverloaded();
    for (const [path, body] of REQUESTS) {
      const reply = await server.post(path, body);
      assert.equal(reply.status, 502, path);
      assert.equal(reply.headers.get("retry-after"), "1");
      assert.equal((await reply.json()).error.type, "inference_error");
    }
    gate.open();
    assert.match(await rest(), /event: end/);
    assert.equal((await server.usage()).requests, 1);
  });

  test("speaks a whole reply when the stream has ended", async () => {
    const { gate, rest } = await startOverloaded();
    const whole = server.post("/v1/tts", { text: "Later." });
    await server.metricIs("queue_depth", 1);
    gate.open();
    await rest();
    assert.equal((await whole).status, 200);
  });
});
