import assert from "node:assert/strict";
import { after, afterEach, describe, test } from "node:test";
import { decodeWav } from "../../../src/audio/decode-wav.ts";
import type { Clip, Turn } from "../../../src/core/conversation.ts";
import type { ChosenVoice } from "../../../src/core/script.ts";
import { ConversationError, SpeechFailedError, type SpeechModel } from "../../../src/core/speech-model.ts";
import { startTestServer } from "../../api/http/start.ts";
import { CountedText, drain, never, scriptOf, speakAll } from "../../core/scripts.ts";
import { speechModelConformance } from "../../core/speech-model-conformance.ts";
import { until } from "../../waiting.ts";
import { remoteModel } from "./remote-model.ts";
import { type Answer, bytes, refusal, SpeechServer, streamedWav, tonePcm } from "./speech-server.ts";

const server = await SpeechServer.open();
let open: SpeechModel | null = null;
afterEach(() => open?.close());
after(() => server.close());

function model(options: Partial<Parameters<typeof remoteModel>[0]> = {}): SpeechModel {
  open = remoteModel({ urls: [server.url], firstSoundTimeoutMs: 20_000, ...options });
  return open;
}

const second: Answer = bytes(streamedWav(tonePcm(1)));
const inputs = () => server.asked.map(({ body }) => body.input);

describe("Streamed text", () => {
  test("is requested piece by piece, the next during the one before", async () => {
    server.answers(second);
    const text = new CountedText(["One.", " Two.", " Three."]);
    const speaking = model().speak(scriptOf({ text }), never());
    for (let frame = 0; frame < 4; frame += 1) await speaking.next();
    assert.deepEqual([inputs(), text.pulls], [["One."], 1]);
    for (let frame = 4; frame < 8; frame += 1) await speaking.next();
    await server.isAsked(2);
    assert.deepEqual([inputs(), text.pulls], [["One.", "Two."], 2]);
    const { frames, report } = await drain(speaking);
    assert.deepEqual(inputs(), ["One.", "Two.", "Three."]);
    // The pieces share full frames; only the last is shorter.
    assert.equal(frames.length + 8, Math.ceil((3 * 24_000) / 1_920));
    assert.deepEqual(report, { stop: "finished", spoken: "One. Two. Three." });
  });

  test("is requested one piece ahead", async () => {
    const held: Answer = ({ response }) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      response.write(streamedWav(tonePcm(5)));
    };
    server.answers(held);
    const text = new CountedText(["One.", " Two.", " Three."]);
    const speaking = model().speak(scriptOf({ text }), never());
    for (let frame = 0; frame < 60; frame += 1) await speaking.next();
    await server.isAsked(2);
    assert.deepEqual([inputs(), text.pulls], [["One.", "Two."], 2]);
    await speaking.return({ stop: "finished", spoken: "" });
    for (const { hasLeft } of server.asked) await until("the connection to be closed", hasLeft);
    assert.ok(text.isReleased);
  });

  test("is not requested beyond maxFrames", async () => {
    server.answers(second);
    const exact = { text: new CountedText(["One.", " Two."]), delivery: { maxFrames: 25 } };
    server.answers(bytes(streamedWav(tonePcm(2))));
    const { frames, report } = await speakAll(model(), exact);
    assert.equal(frames.length, 25);
    assert.equal(report.stop, "length");
  });

  test("fails with a piece, after what came before it", async () => {
    server.answers(second, refusal(400));
    const speaking = model().speak(scriptOf({ text: new CountedText(["One.", " Two."]) }), never());
    for (let frame = 0; frame < 12; frame += 1) assert.equal((await speaking.next()).done, false);
    await assert.rejects(drain(speaking), SpeechFailedError);
  });
});

describe("A request to OpenAI's API", () => {
  test("has model, input, voice and format, and speed and instructions if set", async () => {
    server.answers(second);
    const voices = { "0": "af_heart", "1": "am_michael" };
    const kokoro = model({ voices, model: "kokoro", format: "pcm" });
    await speakAll(kokoro, { text: " One. ", speaker: "1" });
    await speakAll(kokoro, { text: "[Antiphon](/ˈæntɪfən/) speaks.", preset: { rate: 1.25 } });
    const figures = { tempo: 1, pitch: 1, range: 1, pause: 1, levelDb: 0 };
    await speakAll(kokoro, { text: "Two.", manner: { words: "Like a “pirate”.", figures } });
    const [first, later, last] = server.asked.map(({ body }) => body);
    const plain = { model: "kokoro", response_format: "pcm", stream: true, stream_format: "audio" };
    assert.deepEqual(first, { ...plain, input: "One.", voice: "am_michael" });
    assert.deepEqual(later, { ...plain, input: "Antiphon speaks.", voice: "af_heart", speed: 1.25 });
    assert.deepEqual(last, { ...plain, input: "Two.", voice: "af_heart", instructions: "Like a “pirate”." });
    assert.deepEqual(
      server.asked.map(({ request }) => [request.method, request.url, request.headers["content-type"]]),
      Array(3).fill(["POST", "/v1/audio/speech", "application/json"]),
    );
  });

  const clip = (seconds: number, durationS = seconds): Clip => {
    const { samples } = decodeWav(streamedWav(tonePcm(seconds, 16_000), 16_000));
    return { samples, sampleRateHz: 16_000, durationS, digest: `${seconds}` };
  };
  const turn = (speaker: string, text: string | null, audio: Clip | null): Turn => ({ speaker, text, audio });

  test("has the speaker's latest clip of 1 to 30 s with known words, if the endpoint clones", async () => {
    server.answers(second);
    const history = [
      turn("0", "Too old.", clip(2)),
      turn("0", "This is how I sound.", clip(3)),
      turn("0", null, clip(4)),
      turn("0", "Too short.", clip(0.9)),
      turn("0", "Too long.", clip(31)),
      turn("0", "Its end was left out.", clip(5, 12)),
      turn("0", "Only written.", null),
      turn("1", "Somebody else.", clip(2)),
    ];
    const cloning = model({ references: true });
    await speakAll(cloning, { text: "Hello.", history });
    await speakAll(cloning, { text: "Hello.", history: history.slice(2, 3) });
    await speakAll(model(), { text: "Hello.", history });
    const [cloned, unknown, uncloned] = server.asked.map(({ body }) => body);
    const { ref_audio: audio, ref_text: text, ...rest } = cloned;
    assert.equal(text, "This is how I sound.");
    assert.equal(rest.voice, undefined);
    const wav = decodeWav(Buffer.from(audio.replace("data:audio/wav;base64,", ""), "base64"));
    assert.deepEqual([wav.sampleRateHz, wav.durationS], [16_000, 3]);
    assert.deepEqual(wav.samples, clip(3).samples);
    for (const body of [unknown, uncloned])
      assert.deepEqual([body.ref_audio, body.ref_text, body.voice], [undefined, undefined, "0"]);
  });

  test("has the chosen voice or recording rather than the speaker's clip", async () => {
    server.answers(second);
    const history = [turn("0", "This is how I sound.", clip(3))];
    const voices = { "0": "af_heart", "1": "am_michael", anna: "af_anna" };
    const cloning = model({ references: true, voices });
    const said = { text: "Hello.", history };
    for (const id of ["1", "anna", "af_bella"])
      await speakAll(cloning, { ...said, voice: [{ weight: 1, id }] });
    await speakAll(cloning, {
      ...said,
      voice: [{ weight: 1, sample: { clip: clip(2), text: "Other words." } }],
    });
    assert.deepEqual(
      server.asked.map(({ body }) => [body.voice, body.ref_text]),
      [
        ["am_michael", undefined],
        ["af_anna", undefined],
        ["af_bella", undefined],
        [undefined, "Other words."],
      ],
    );
    const wordless: ChosenVoice = [{ weight: 1, sample: { clip: clip(2), text: null } }];
    await assert.rejects(speakAll(cloning, { ...said, voice: wordless }), ConversationError);
    await assert.rejects(speakAll(model({ voices }), { ...said, voice: wordless }), /follows no recording/);
    const mix = ["0", "1"].map((id) => ({ weight: 0.5, id }));
    await assert.rejects(speakAll(cloning, { ...said, voice: mix }), /one voice at a time/);
  });

  test("is one of several for a long text", async () => {
    server.answers(bytes(streamedWav(tonePcm(120))));
    const sentence = "The birch canoe slid on the smooth planks. ";
    const text = sentence.repeat(120).trim();
    const { report } = await speakAll(model(), { text, delivery: { maxFrames: 8_192 } });
    assert.equal(report.spoken, text);
    assert.equal(server.asked.length, 2);
    assert.ok(inputs().every((input) => input.length <= 4_096 && input.endsWith("planks.")));
  });
});

const antiphon = await startTestServer({ flags: { workers: "2" } });
after(() => antiphon.stop());
const { key: apiKey } = antiphon;
const urls = [`${antiphon.url}/v1`];

// The stream has no field for a seed.
speechModelConformance(
  "a remote model at another Antiphon",
  async () => remoteModel({ kind: "antiphon", urls, apiKey, model: null }),
  ["takesSeeds"],
);

// OpenAI's API has neither temperatures nor words.
for (const format of ["wav", "pcm"] as const) {
  speechModelConformance(
    `a remote model at OpenAI's API in ${format}`,
    async () => remoteModel({ kind: "openai", urls, apiKey, format }),
    ["repeats", "takesSeeds", "tellsWords"],
  );
}
