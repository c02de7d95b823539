import assert from "node:assert/strict";
import { after, afterEach, describe, test } from "node:test";
import { decodeWav } from "../../../src/audio/decode-wav.ts";
import { MAX_NEW_TOKENS, MAX_TEXT_CHARS, MIN_NEW_TOKENS } from "../../../src/contract/limits.ts";
import type { Turn } from "../../../src/core/conversation.ts";
import { type FollowedVoice, SpeechFailedError, type SpeechModel } from "../../../src/core/speech-model.ts";
import { FRAMES_PER_REQUEST, MAX_CHARS } from "../../../src/engines/remote/antiphon-dialect.ts";
import { RATES_HZ } from "../../../src/engines/remote/openai-dialect.ts";
import { voiceMeta } from "../../../src/serving/reply/reply-meta.ts";
import { Checkpoints } from "../../../src/settings/model-settings.ts";
import {
  CountedText,
  drain,
  never,
  type ScriptParts,
  type Spoken,
  scriptOf,
  speakAll,
} from "../../core/scripts.ts";
import { remoteModel } from "./remote-model.ts";
import { type Answer, bytes, SpeechServer, streamedWav, tonePcm, UPSTREAM_SECRET } from "./speech-server.ts";

const server = await SpeechServer.open();
let open: SpeechModel | null = null;
afterEach(() => open?.close());
after(() => server.close());

function model(options: Partial<Parameters<typeof remoteModel>[0]> = {}): SpeechModel {
  open = remoteModel({
    urls: [server.url],
    kind: "antiphon",
    model: null,
    voices: {},
    firstSoundTimeoutMs: 20_000,
    ...options,
  });
  return open;
}

type Event = readonly [name: string, data: unknown];

const audio = (seconds = 0.08, marks: object = {}): Event => [
  "audio",
  { pcm_b64: tonePcm(seconds).toString("base64"), sample_rate: 24_000, index: 0, ...marks },
];
const end = (meta: object = { stop: "finished" }): Event => ["end", { text: "", meta }];

function textOf(events: readonly Event[]): string {
  return events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join("");
}

/** Answers with events and an end. */
function events(...list: readonly Event[]): Answer {
  return bytes(Buffer.from(`: hello\n\n${textOf(list)}`), "text/event-stream; charset=utf-8");
}

async function spoken(answer: Answer, parts: ScriptParts = {}, options = {}): Promise<Spoken> {
  server.answers(answer);
  return speakAll(model(options), { text: "One, two.", ...parts });
}

describe("The Antiphon dialect", () => {
  test("sends the conversation with audio, all parameters, the lexicon and visemes", async () => {
    const { samples } = decodeWav(streamedWav(tonePcm(1.5, 22_050), 22_050));
    const history: Turn[] = [
      { speaker: "1", text: "Well?", audio: { samples, sampleRateHz: 22_050, durationS: 1.5, digest: "a" } },
      { speaker: "0", text: "Written.", audio: null },
      { speaker: "1", text: null, audio: { samples, sampleRateHz: 22_050, durationS: 1.5, digest: "a" } },
    ];
    const delivery = {
      temperature: 0.3,
      acousticTemperature: 0.1,
      topK: 5,
      repetitionPenalty: 2,
      penaltyWindow: 9,
      maxFrames: 77,
      quality: "low",
    } as const;
    const lexicon = [["Antiphon", "/ˈæntɪfən/"]] as const;
    const parts = { history, speaker: "1", text: "Hear: “this”.", delivery, lexicon, hasMouth: true };
    await spoken(events(audio(), end()), parts, { model: "svc-beta-v0.2", voices: { "0": "1", "1": "0" } });
    const [{ body, request }] = server.asked as [(typeof server.asked)[number]];
    assert.equal(request.url, "/v1/converse/stream");
    assert.equal(request.headers["x-antiphon-pace"], "own", "this server paces its own clients");
    const wavs = body.conversation.map((turn: { audio_wav_b64?: string }) => {
      if (turn.audio_wav_b64 === undefined) return null;
      const { sampleRateHz, samples: heard } = decodeWav(Buffer.from(turn.audio_wav_b64, "base64"));
      assert.deepEqual(heard, samples);
      delete turn.audio_wav_b64;
      return sampleRateHz;
    });
    assert.deepEqual(wavs, [22_050, null, 22_050, null]);
    assert.deepEqual(body, {
      conversation: [
        { speaker: "0", text: "Well?" },
        { speaker: "1", text: "Written." },
        { speaker: "0" },
        { speaker: "0", text: "Hear: “this”." },
      ],
      model: "svc-beta-v0.2",
      params: {
        temperature: 0.3,
        acoustic_temperature: 0.1,
        top_k: 5,
        repetition_penalty: 2,
        penalty_window: 9,
        max_new_tokens: 77,
        audio_quality: "low",
      },
      lexicon: { Antiphon: "/ˈæntɪfən/" },
      visemes: true,
    });
  });

  test("sends further speakers by the label that is not the open turn's", async () => {
    const history = ["0", "1", "2", "63"].map((speaker): Turn => ({ speaker, text: "Yes.", audio: null }));
    for (const [speaker, other] of ["01", "10"]) {
      server.asked.length = 0;
      await spoken(events(audio(), end()), { history, speaker: speaker! });
      const sent = server.asked[0]!.body.conversation.map((turn: Turn) => turn.speaker);
      assert.deepEqual(sent, ["0", "1", other, other, speaker]);
    }
  });

  test("frees the samples of clips that are given away, and keeps others", async () => {
    const clip = (isGivenAway: boolean) => {
      const { samples } = decodeWav(streamedWav(tonePcm(1)));
      return { samples, sampleRateHz: 24_000, durationS: 1, digest: "a", isGivenAway };
    };
    const [given, kept] = [clip(true), clip(false)];
    const history = [given, kept].map((audio): Turn => ({ speaker: "0", text: null, audio }));
    await spoken(events(audio(), end()), { history });
    assert.deepEqual([given.samples.length, kept.samples.length], [0, 24_000]);
    const [first, second] = server.asked[0]!.body.conversation;
    assert.ok(first.audio_wav_b64.length > 60_000);
    assert.equal(first.audio_wav_b64, second.audio_wav_b64);
  });

  test("sends a chosen voice by name, or a recording as the speaker's first turn without other audio", async () => {
    const { samples } = decodeWav(streamedWav(tonePcm(1)));
    const clip = { samples, sampleRateHz: 24_000, durationS: 1, digest: "a" };
    const history: Turn[] = [
      { speaker: "0", text: "Said.", audio: clip },
      { speaker: "0", text: null, audio: clip },
      { speaker: "1", text: null, audio: clip },
    ];
    const options = { voices: { "0": "1", "1": "0", anna: "Anna" } };
    server.answers(events(audio(), end()));
    const sample = { clip, text: "Words." };
    for (const part of [
      { weight: 1, id: "anna" },
      { weight: 1, sample },
    ]) {
      await speakAll(model(options), { text: "One, two.", history, voice: [part] });
    }
    const [byName, byClip] = server.asked.map(({ body }) => body);
    const turnsOf = ({ conversation }: { conversation: { audio_wav_b64?: string }[] }) =>
      conversation.map(({ audio_wav_b64, ...turn }) => ({ ...turn, isHeard: audio_wav_b64 !== undefined }));
    const rest = [
      { speaker: "1", text: "Said.", isHeard: false },
      { speaker: "0", isHeard: true },
      { speaker: "1", text: "One, two.", isHeard: false },
    ];
    assert.deepEqual([byName.voices, turnsOf(byName)], [{ "1": "Anna" }, rest]);
    const first = { speaker: "1", text: "Words.", isHeard: true };
    assert.deepEqual([byClip.voices, turnsOf(byClip)], [undefined, [first, ...rest]]);
    assert.equal(samples.length, 24_000, "the recording is kept");
  });

  test("sends nothing that the script does not set", async () => {
    await spoken(events(audio(), end()), { delivery: { topK: null } });
    const { conversation, params, ...rest } = server.asked[0]!.body;
    assert.deepEqual([conversation, params.top_k, rest], [[{ speaker: "0", text: "One, two." }], null, {}]);
  });

  test("clamps max_new_tokens to the contract", async () => {
    for (const [maxFrames, asked] of [
      [4, 16],
      [65_536, 2_048],
    ] as const) {
      await spoken(events(audio(), end()), { delivery: { maxFrames } });
      assert.equal(server.asked[0]?.body.params.max_new_tokens, asked);
    }
  });

  test("shifts the words and visemes of later pieces", async () => {
    const word = { word: "Öl", start: 0.02, end: 0.07, offset: 1, length: 2 };
    const marks = {
      words: [word],
      visemes: [{ viseme: "O", start: 0.02, end: 0.05 }],
      phonemes: [{ phoneme: "ø", start: 0.02, end: 0.05 }],
    };
    const one = (index: number): Event =>
      audio(index === 0 ? 0.08 : 0.04, index === 0 ? marks : { words: [] });
    server.answers(events(one(0), one(1), end()));
    const { frames } = await speakAll(model(), { text: new CountedText([" Öl.", " Öl."]), hasMouth: true });
    const near = (value: number) => Number(value.toFixed(3));
    assert.deepEqual(
      frames.map((frame) =>
        frame.words?.map((each) => [each.word, near(each.startS), near(each.endS), each.offset]),
      ),
      [[["Öl", 0.02, 0.07, 1]], [["Öl", 0.14, 0.19, 5]], []],
    );
    const [first, second] = frames.map(({ mouth }) => mouth);
    assert.deepEqual(first, {
      visemes: [{ name: "O", startS: 0.02, endS: 0.05 }],
      phonemes: [{ name: "ø", startS: 0.02, endS: 0.05 }],
    });
    assert.equal(near(second!.visemes[0]!.startS), 0.14);
  });

  test("reports the followed voice with its own label", async () => {
    const voice: FollowedVoice = {
      start: "1",
      followed: ["pitch", "level"],
      turns: [0, 2],
      speechS: 2.5,
      trust: 0.75,
      cautions: ["short"],
      entrainedBy: null,
      pitchSemitones: -3.5,
      pitchRange: 1.25,
      rate: 0.5,
      levelDb: 1.5,
      warp: 0.75,
      spectrumDb: 2.5,
    };
    const followed = () => events(audio(), end({ stop: "finished", voice: voiceMeta(voice) }));
    assert.deepEqual((await spoken(followed())).report.voice, voice);
    const mapped = await spoken(followed(), {}, { voices: { "0": "1", "1": "0" } });
    assert.equal(mapped.report.voice?.start, "0");
    for (const wrong of [{ start: 1 }, { ...voiceMeta(voice), trust: "high" }, "a voice"]) {
      const none = await spoken(events(audio(), end({ stop: "finished", voice: wrong })));
      assert.deepEqual(none.report, { stop: "finished", spoken: "One, two." });
    }
  });

  test("reports where the other server's limit cut it short", async () => {
    const words = [{ word: "One", start: 0, end: 0.07, offset: 0, length: 3 }];
    const cut = events(audio(0.08, { words }), audio(0.04), end({ stop: "length" }));
    const { frames, report } = await spoken(cut, { text: new CountedText(["One. Two. Three.", " Four."]) });
    assert.deepEqual(report, { stop: "length", spoken: "One. " });
    assert.equal(frames.length, 2);
    assert.equal(server.asked.length, 1);
  });

  const error: Event = ["error", { type: "inference_error", message: UPSTREAM_SECRET, request_id: null }];
  const wrong: readonly [what: string, answer: Answer, message: RegExp][] = [
    ["a stream without an end", events(audio()), /ended its stream without an end event$/],
    ["an empty stream", events(), /ended its stream without an end event$/],
    ["an end without audio", events(end()), /answered without audio$/],
    ["an error after audio", events(audio(), error), /reported an error in its stream$/],
    ["an error before audio", events(error), /reported an error in its stream$/],
    ["a WAV", bytes(streamedWav(tonePcm(1))), /did not answer with an Antiphon event stream: check/],
    [
      "events without JSON",
      bytes(Buffer.from("event: audio\ndata: {\n\n"), "text/event-stream"),
      /is not a JSON object$/,
    ],
    ["another rate", events(["audio", { pcm_b64: "AAAA", sample_rate: 16_000 }]), /not of 24000 Hz$/],
    ["an event without audio", events(["audio", { sample_rate: 24_000 }]), /not of 24000 Hz$/],
  ];
  for (const [what, answer, message] of wrong)
    test(`fails on ${what} with its own message`, async () => {
      const failed = await spoken(answer).then(
        () => assert.fail("no failure"),
        (thrown: unknown) => thrown,
      );
      assert.ok(failed instanceof SpeechFailedError, String(failed));
      assert.match(failed.message, message);
      assert.ok(!failed.message.includes(UPSTREAM_SECRET));
    });

  test("retries a failure before the first audio once, and never after it", async () => {
    server.answers(events(["meta", {}], error), events(audio(), end()));
    assert.equal((await speakAll(model())).report.stop, "finished");
    assert.equal(server.asked.length, 2);
    server.answers(events(audio(), error), events(audio(), end()));
    await assert.rejects(drain(model().speak(scriptOf(), never())), SpeechFailedError);
    assert.equal(server.asked.length, 1);
  });

  test("does not take keep-alives for audio", async () => {
    server.answers(({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": keep-alive\n\n");
    });
    await assert.rejects(speakAll(model({ firstSoundTimeoutMs: 200 })), /sent no audio in time/);
  });

  test("ignores unknown and malformed events", async () => {
    const word = { word: "One", start: 0, end: 0.05, offset: 0, length: 3 };
    const halfWords = ["word", "start", "end", "offset", "length"].map((field) => ({
      ...word,
      [field]: null,
    }));
    const odd = events(
      ["meta", { request_id: "x" }],
      ["news", { any: 1 }],
      audio(0.08, { words: [3, ...halfWords], visemes: "none" }),
      audio(0.08, { words: [], visemes: [{ viseme: "O", start: 0.09, end: 0.1 }, { viseme: "U" }] }),
      end({}),
    );
    const { frames, report } = await spoken(odd);
    assert.equal(report.stop, "finished");
    const mouth = { visemes: [{ name: "O", startS: 0.09, endS: 0.1 }], phonemes: [] };
    assert.deepEqual(
      frames.map(({ words, mouth: reported }) => [words, reported]),
      [
        [[], undefined],
        [[], mouth],
      ],
    );
  });
});

test("the Antiphon dialect's limits are those of the contract", () => {
  assert.equal(MAX_CHARS, MAX_TEXT_CHARS);
  assert.deepEqual(FRAMES_PER_REQUEST, { min: MIN_NEW_TOKENS, max: MAX_NEW_TOKENS });
});

interface RemoteSchema {
  readonly properties: { readonly sampleRateHz: object };
}

test("the rates of raw samples are those of a WAV", () => {
  const [checkpoint] = Object.values(Checkpoints.patternProperties);
  const { properties } = checkpoint as unknown as Record<"properties", { remote: RemoteSchema }>;
  const rate = properties.remote.properties.sampleRateHz;
  const { min: minimum, max: maximum } = RATES_HZ;
  assert.deepEqual({ ...rate, minimum, maximum }, { ...rate });
});
