import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { clipSource } from "../../src/core/audio-source.ts";
import type { Clip } from "../../src/core/conversation.ts";
import {
  type RecogniseOptions,
  type Recogniser,
  RecogniserError,
  type Transcript,
} from "../../src/core/recogniser.ts";
import { within } from "../waiting.ts";
import { babble, clipOf, silence, whiteNoise } from "./clips.ts";

/** Abilities that the interface leaves to each recogniser. */
export interface RecogniserAbilities {
  /** Uses a draft. Without, any draft leaves the transcript unchanged. */
  readonly takesDrafts: boolean;
  /** Reports the probability of speech for silence, too. */
  readonly weighsSilence: boolean;
}

const ALL: RecogniserAbilities = { takesDrafts: true, weighsSilence: true };

export interface RecogniserConformanceOptions {
  readonly lacks?: readonly (keyof RecogniserAbilities)[];
  /** Speech and its words in lower case, if the recogniser knows words. */
  readonly speech?: () => Promise<{ readonly clip: Clip; readonly words: readonly string[] }>;
  /** Recognisers that fail, by their fault. */
  readonly broken?: Readonly<Record<string, () => Promise<Recogniser>>>;
}

export const PLAIN: RecogniseOptions = { language: null, prompt: null, wantsWords: false, draft: null };

/** Checks what every recogniser guarantees. `make` is called for each one that a test closes. */
export function recogniserConformance(
  name: string,
  make: () => Promise<Recogniser>,
  { lacks = [], speech, broken = {} }: RecogniserConformanceOptions = {},
): void {
  const able = { ...ALL, ...Object.fromEntries(lacks.map((ability) => [ability, false])) };
  describe(name, () => {
    let recogniser: Recogniser;
    let clip: Clip = babble(2.5);
    let words: readonly string[] = [];
    before(async () => {
      recogniser = await make();
      if (speech !== undefined) ({ clip, words } = await speech());
    });
    after(() => recogniser?.close());

    const heard = (of: Clip, options: Partial<RecogniseOptions> = {}): Promise<Transcript> =>
      recogniser.recognise(clipSource(of), { ...PLAIN, ...options }, new AbortController().signal);

    test("has a name", () => assert.match(recogniser.name, /\S/));

    const knowsNoWords = speech === undefined && "it knows no words";
    const missingIn = (text: string) => {
      const found = new Set(text.toLowerCase().match(/\p{L}+/gu));
      return words.filter((word) => !found.has(word));
    };
    const checkWords = (text: string) =>
      assert.ok(missingIn(text).length <= words.length / 5, `"${text}" lacks ${missingIn(text)}`);

    test("transcribes speech", { skip: knowsNoWords }, async () => checkWords((await heard(clip)).text));

    test("translates into English, or rejects the task by name", async () => {
      const wants = { task: "translate", wantsWords: true } as const;
      if (!recogniser.canTranslate) {
        const isTask = (error: unknown) => error instanceof RecogniserError && error.refused === "task";
        await assert.rejects(heard(clip, wants), isTask);
        return;
      }
      const translated = await heard(clip, wants);
      checkForm(translated, clip);
      for (const segment of translated.segments) assert.equal(segment.words, null, "no word times");
      if (speech === undefined) return;
      // The words are English and stay as they are.
      checkWords(translated.text);
    });

    test("returns ordered, trimmed segments within the clip that make up the text", async () => {
      checkForm(await heard(clip), clip);
      checkForm(await heard(clip, { wantsWords: true }), clip);
    });

    test("returns words only on request", async () => {
      for (const segment of (await heard(clip)).segments) assert.equal(segment.words, null);
      const asked = await heard(clip, { wantsWords: true });
      for (const { text, words: own } of asked.segments) {
        assert.equal(own?.map((word) => word.text).join(""), text.replaceAll(" ", ""));
      }
    });

    test("returns the same for the same clip, alone or among others", async () => {
      const first = await heard(clip, { wantsWords: true });
      const [again, , once] = await Promise.all(
        [clip, babble(1.5), clip].map((each) => heard(each, { wantsWords: true })),
      );
      assert.deepEqual([again, once], [first, first]);
    });

    test("leaves the samples of a clip that is not given away", async () => {
      const first = await heard(clip);
      const copy = { ...clip, samples: clip.samples.slice(), isGivenAway: true };
      assert.deepEqual(await heard(copy), first);
      assert.ok(clip.samples.length > 0);
    });

    test("returns no words for silence and noise", async () => {
      for (const nothing of [silence(0.1), silence(3), whiteNoise(2), silence(40)]) {
        const { text, segments, language, meanLogProbability, speechProbability } = await heard(nothing);
        assert.deepEqual({ text, segments }, { text: "", segments: [] });
        assert.deepEqual({ language, meanLogProbability }, { language: null, meanLogProbability: null });
        if (able.weighsSilence) assert.ok(speechProbability !== null && speechProbability < 0.5);
      }
    });

    // Without words, any draft may be confirmed.
    const confirmsAnything = able.takesDrafts && knowsNoWords;
    test("confirms a right draft, and corrects a wrong one", {
      skip: confirmsAnything,
    }, async () => {
      const first = await heard(clip);
      const [segment] = first.segments;
      if (!able.takesDrafts) {
        const other = {
          ...first,
          text: "Elephants never swim.",
          segments: [{ ...segment!, text: "Elephants" }],
        };
        for (const draft of [first, other]) assert.deepEqual(await heard(clip, { draft }), first);
        return;
      }
      assert.equal((await heard(clip, { draft: first })).text, first.text);
      const wrong = `${segment!.text.split(" ")[0]} elephants never swim across this river`;
      const draft = { ...first, text: wrong, segments: [{ ...segment!, text: wrong }] };
      assert.equal((await heard(clip, { draft })).text, first.text);
      assert.equal((await heard(clip, { draft: { ...draft, language: "de" } })).text, first.text);
    });

    test("reports partial transcripts, and continues from any of them", async () => {
      const long = repeated(clip, Math.ceil(35 / clip.durationS));
      const parts: Transcript[] = [];
      const whole = await heard(long, { wantsWords: true, onPartial: (part) => parts.push(part) });
      assert.deepEqual(parts.at(-1), whole);
      for (const part of parts) {
        checkForm(part, long);
        assert.deepEqual(part.segments, whole.segments.slice(0, part.segments.length));
        const { language } = part;
        const rest = await heard(long, { wantsWords: true, startAtS: part.transcribedS, language });
        checkForm(rest, long);
        assert.equal(rest.transcribedS, whole.transcribedS);
        assert.deepEqual([...part.segments, ...rest.segments], whole.segments);
      }
      for (const [at, part] of parts.slice(1).entries())
        assert.ok(part.transcribedS > parts[at]!.transcribedS, `${part.transcribedS} s`);
    });

    test("returns nothing from the end of a clip on", async () => {
      for (const startAtS of [clip.durationS, clip.durationS + 10]) {
        const { text, transcribedS: heardS } = await heard(clip, { startAtS });
        assert.equal(text, "");
        assert.ok(Math.abs(heardS - clip.durationS) < 0.05, `${heardS}`);
      }
    });

    const odd: Record<string, () => Clip> = {
      "no sample": () => clipOf(0, () => 0),
      "one sample": () => clipOf(1 / 16_000, () => 1),
      "half a word": () => babble(0.25),
      "4 kHz": () => babble(2, 4_000),
      "8 kHz": () => babble(2, 8_000),
      "192 kHz": () => babble(1, 192_000),
      "an odd rate": () => babble(1, 11_127),
      "full scale": () => clipOf(2, (timeS) => Math.sign(Math.sin(2 * Math.PI * 3 * timeS))),
      "a constant": () => clipOf(2, () => 0.9),
      "30 s exactly": () => babble(30),
      "more than 30 s": () => babble(31.7),
    };
    for (const [what, make] of Object.entries(odd)) {
      test(`transcribes a clip of ${what} within its bounds`, async () => {
        const given = make();
        checkForm(await heard(given, { wantsWords: true }), given);
      });
    }

    test("throws an abort before it starts", async () => {
      const reason = new Error("gone");
      const hearing = recogniser.recognise(clipSource(clip), PLAIN, AbortSignal.abort(reason));
      await assert.rejects(hearing, (thrown) => thrown === reason);
    });

    test("throws an abort while it transcribes or waits, and serves other calls", async () => {
      const reason = new Error("gone");
      const first = await heard(clip);
      for (let round = 0; round < 3; round++) {
        const controllers = Array.from({ length: 4 }, () => new AbortController());
        const hearing = controllers.map(({ signal }) =>
          assert.rejects(
            recogniser.recognise(clipSource(clip), PLAIN, signal),
            (thrown) => thrown === reason,
          ),
        );
        const other = heard(clip);
        for (let turn = 0; turn < 5 * round; turn++) await new Promise((resolve) => setImmediate(resolve));
        for (const controller of controllers) controller.abort(reason);
        await within("the end of the aborted calls", Promise.all(hearing));
        assert.deepEqual(await within("the other call", other), first);
      }
    });

    test("may be closed twice, ends what is under way, and then fails", async () => {
      const other = await make();
      await other.recognise(clipSource(clip), PLAIN, new AbortController().signal);
      const open = other.recognise(clipSource(babble(20)), PLAIN, new AbortController().signal);
      const ended = assert.rejects(open, RecogniserError);
      await within("the end", Promise.all([other.close(), ended]));
      await other.close();
      await assert.rejects(
        other.recognise(clipSource(clip), PLAIN, new AbortController().signal),
        (thrown) => thrown instanceof RecogniserError,
      );
    });

    for (const [what, makeBroken] of Object.entries(broken)) {
      test(`fails with a RecogniserError for ${what}`, async () => {
        const other = await makeBroken();
        const hearing = other.recognise(clipSource(clip), PLAIN, new AbortController().signal);
        await within("the failure", assert.rejects(hearing, RecogniserError));
        await other.close();
      });
    }
  });
}

function repeated({ samples, sampleRateHz }: Clip, times: number): Clip {
  const all = new Float32Array(samples.length * times);
  for (let time = 0; time < times; time++) all.set(samples, time * samples.length);
  const durationS = all.length / sampleRateHz;
  return { samples: all, sampleRateHz, durationS, digest: `${times} times the clip` };
}

function checkForm(transcript: Transcript, { durationS }: Clip): void {
  const { text, segments, language, transcribedS: heardS } = transcript;
  assert.equal(segments.map((segment) => segment.text).join(" "), text);
  assert.ok(heardS >= 0 && heardS <= durationS + 0.05, `${heardS} of ${durationS} s`);
  if (language !== null) assert.match(language, /^[a-z]{2,3}$/);
  for (const value of [transcript.languageProbability, transcript.speechProbability]) {
    if (value !== null) assert.ok(value >= 0 && value <= 1 + 1e-6, `${value} is no probability`);
  }
  let last = 0;
  for (const segment of segments) {
    assert.equal(segment.text, segment.text.trim());
    assert.notEqual(segment.text, "");
    assert.ok(segment.startS >= last - 1e-9 && segment.endS >= segment.startS, "out of order");
    assert.ok(segment.endS <= durationS + 0.05, `${segment.endS} exceeds ${durationS}`);
    let lastWord = segment.startS;
    for (const word of segment.words ?? []) {
      assert.ok(word.startS >= lastWord - 1e-9 && word.endS >= word.startS, "words out of order");
      assert.ok(word.endS <= segment.endS + 1e-9, "a word outside of its segment");
      assert.ok(word.probability >= 0 && word.probability <= 1, `${word.probability}`);
      lastWord = word.startS;
    }
    last = segment.startS;
  }
}
