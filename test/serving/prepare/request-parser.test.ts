import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import { RequestParser } from "../../../src/serving/prepare/request-parser.ts";
import { makeWav } from "../../audio/make-wav.ts";

const NEVER = new AbortController().signal;
const still = { temperature: 0 };

let preparer: RequestParser;
before(() => {
  preparer = new RequestParser({ models: PUBLIC_MODELS });
});
after(() => preparer.close());

const bytesOf = (body: object | string): Uint8Array =>
  new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
/** Large enough for the thread. */
const PAD = "x".repeat(70_000);

describe("a request parsed in a thread", () => {
  it("equals the request parsed inline", async () => {
    const samples = Array.from({ length: 30_000 }, (_, i) => (i * 37) % 20_000);
    const wav = makeWav({ encoding: "s16", rateHz: 16_000, channels: [samples] }).toString("base64");
    const conversation = [
      { audio_wav_b64: wav, text: "Ja." },
      { speaker: "1", text: "Hello." },
    ];
    const small = {
      audio_wav_b64: makeWav({ encoding: "s16", rateHz: 8_000, channels: [[1, 2]] }).toString("base64"),
    };
    for (const [purpose, body] of [
      ["converse", { conversation, params: still }],
      ["converse", { conversation: [small, { text: "Hi." }], params: still }],
      ["tts", { text: "Hello there.", speaker: "1", params: still }],
      [
        "speech",
        { model: "tts-1", input: "Hello.", voice: "nova", response_format: "pcm", stream_format: "sse" },
      ],
    ] as const) {
      const here = await preparer.parse(purpose, bytesOf(body), NEVER);
      const there = await preparer.parse(purpose, bytesOf({ ...body, pad: PAD }), NEVER);
      // Above temperature 0, seeds are random.
      const same = { ...here, unread: "pad" };
      assert.deepEqual(there, purpose === "speech" ? { ...same, seed: there.seed } : same);
    }
  });

  it("is rejected with the same message", async () => {
    for (const body of [
      { text: 5 },
      { text: "Hi.", model: "none" },
      { text: "Hi.", params: { temperature: 9 } },
      '{"text": "Hi."',
    ]) {
      const long = typeof body === "string" ? body + " ".repeat(70_000) : { ...body, pad: PAD };
      const refusal = async (asked: object | string) =>
        preparer.parse("tts", bytesOf(asked), NEVER).then(
          () => assert.fail("it was taken"),
          ({ status, message }) => [status, `${message}`.replace(/byte \d+|ends too early/, "end")],
        );
      assert.deepEqual(await refusal(long), await refusal(body));
    }
  });

  it("may contain any nesting or padding", async () => {
    for (const ignored of [
      `${"[".repeat(2_000_000)}${"]".repeat(2_000_000)}`,
      `[${"{},".repeat(2_000_000)}{}]`,
      `{${'"a":1,'.repeat(1_000_000)}"b":2}`,
      `[${"1,".repeat(2_000_000)}1]`,
    ]) {
      const { conversation } = await preparer.parse("tts", bytesOf(`{"text":"Hi.","x":${ignored}}`), NEVER);
      assert.equal(conversation.open.text, "Hi.");
    }
  });

  it("hands its samples over, inline or not", async () => {
    const wav = makeWav({ encoding: "s16", rateHz: 24_000, channels: [[1, 2, 3]] }).toString("base64");
    for (const pad of ["", PAD]) {
      const body = bytesOf({ conversation: [{ audio_wav_b64: wav }, { text: "Hi." }], pad });
      const { conversation } = await preparer.parse("converse", body, NEVER);
      const clip = conversation.history[0]?.audio;
      assert.equal(clip?.isGivenAway, true);
      assert.equal(clip?.samples.byteLength, clip?.samples.buffer.byteLength);
    }
  });

  it("is abandoned when its client disconnects", async () => {
    const gone = new AbortController();
    const first = preparer.parse("tts", bytesOf({ text: "Hi.", pad: PAD.repeat(100) }), NEVER);
    const second = preparer.parse("tts", bytesOf({ text: "Hi.", pad: PAD }), gone.signal);
    gone.abort(new Error("gone"));
    await assert.rejects(second, { message: "gone" });
    assert.equal((await first).conversation.open.text, "Hi.");
  });
});
