import { setTimeout as sleep } from "node:timers/promises";
import { resample } from "../../src/audio/resample.ts";
import { open } from "../../src/library/antiphon.ts";
import { type Exchange, exchange } from "../realtime/exchange.ts";
import type { Turn } from "../realtime/people.ts";
import { withScriptedWriter } from "../realtime/realtime-server.ts";
import { seedOf } from "../realtime/seed.ts";
import { SimulatedUser } from "../realtime/simulated-user.ts";
import type { Row } from "../row.ts";

/** One turn of a user: texts, and pauses in seconds. */
type Talk = readonly (string | number)[];

const KINDS: Readonly<Record<string, readonly Talk[]>> = {
  "three sentences, 0.3 to 0.9 s between them": [
    [
      "I went to the market this morning.",
      0.3,
      "They had no tomatoes at all.",
      0.6,
      "So we will have soup tonight.",
    ],
    [
      "My train was late again.",
      0.5,
      "I stood on the platform for an hour.",
      0.9,
      "It was cold and it rained.",
    ],
    [
      "We bought a small house last year.",
      0.4,
      "The roof needs some work.",
      0.5,
      "My brother will help us in spring.",
    ],
    [
      "The meeting went well.",
      0.7,
      "They liked the first two drawings.",
      0.3,
      "The third one has to change.",
    ],
    [
      "I am reading a book about whales.",
      0.9,
      "It is longer than I thought.",
      0.8,
      "But the pictures are lovely.",
    ],
  ],
  "hesitations of 0.5 to 1.2 s": [
    ["I would like a, um,", 0.8, "a table for four people, please."],
    ["Could you tell me the way to", 0.9, "the railway station, please?"],
    ["I think that we should", 1.2, "wait until the rain is over."],
    ["She told me about the, uh,", 0.6, "the new rules for the library."],
    ["We could go there by bus, but", 0.7, "walking is nicer in this weather."],
  ],
  "numbers in groups, 0.4 to 0.7 s between them": [
    ["My number is five five five,", 0.5, "two eight one,", 0.6, "nine four seven six."],
    ["The code is seven seven three,", 0.4, "zero one nine,", 0.7, "two two five."],
  ],
  questions: [
    ["What time does the last train leave?"],
    ["Do you have anything without sugar?"],
    ["How far is it to the sea?"],
  ],
};

/**
 * Turns of three sentences, with hesitations, with grouped numbers, and questions, by three of our voices.
 */
export const realtimeTalks: Row = {
  id: "realtime-talks",
  what: "turns of several parts kept as one turn, by kind: semantic turn detection, low; medium. Median from the end of speech to the reply",
  goal: "three sentences at low: ≥ 90 %",
  async measure(bench) {
    const spoken = await speak();
    const counts = await withScriptedWriter("Yes. I see.", async ({ url, key }) => {
      const found = new Map<string, Exchange[]>();
      for (const eagerness of ["low", "medium"]) {
        const turn_detection = { type: "semantic_vad", eagerness };
        const session = { type: "realtime", audio: { input: { transcription: {}, turn_detection } } };
        const user = await SimulatedUser.open({ url, key, seed: seedOf(bench), session });
        for (const [kind, turns] of spoken) {
          const exchanges: Exchange[] = [];
          for (const turn of turns) {
            await sleep(500);
            exchanges.push(await exchange(user, turn));
          }
          found.set(`${kind}, ${eagerness}`, exchanges);
        }
        await user.close();
      }
      return found;
    });
    const measured = [...counts].map(([kind, exchanges]) => {
      const kept = exchanges.filter(({ isEndedEarly }) => !isEndedEarly).length;
      const ms = exchanges.flatMap(({ firstAudioMs }) => firstAudioMs ?? []).sort((a, b) => a - b);
      return `${kind}: ${kept} of ${exchanges.length}, ${Math.round(ms[ms.length >> 1] ?? Number.NaN)} ms`;
    });
    const patient = counts.get("three sentences, 0.3 to 0.9 s between them, low") ?? [];
    const kept = patient.filter(({ isEndedEarly }) => !isEndedEarly).length;
    return { measured: measured.join("; "), isMet: kept >= 0.9 * patient.length };
  },
};

/** Synthesizes the talks, each in one of three voices. */
async function speak(): Promise<ReadonlyMap<string, readonly Turn[]>> {
  const antiphon = await open({ writer: { kind: "none" } });
  const all = new Map<string, readonly Turn[]>();
  for (const [kind, talks] of Object.entries(KINDS)) {
    const turns: Turn[] = [];
    for (const [index, talk] of talks.entries()) {
      const parts: Float32Array[] = [];
      for (const part of talk) {
        if (typeof part === "number") parts.push(new Float32Array(part * RATE_HZ));
        else
          parts.push(
            await trimmed(
              antiphon.say(part, { voice: VOICES[index % VOICES.length]!, params: { temperature: 0 } }),
            ),
          );
      }
      const samples = resample(joined(parts), RATE_HZ, 16_000);
      const pauseS = Math.max(0, ...talk.filter((part) => typeof part === "number"));
      turns.push({
        samples,
        sampleRateHz: 16_000,
        durationS: samples.length / 16_000,
        digest: `${kind}${index}`,
        pauseS,
      });
    }
    all.set(kind, turns);
  }
  await antiphon.close();
  return all;
}

const RATE_HZ = 24_000;
const VOICES = ["theo", "clara", "hugo"];

/** Returns the samples of an utterance, without the silence around it. */
async function trimmed(speech: AsyncIterable<{ readonly samples: Float32Array }>): Promise<Float32Array> {
  const parts: Float32Array[] = [];
  for await (const { samples } of speech) parts.push(samples);
  const samples = joined(parts);
  const isSound = (value: number) => Math.abs(value) > 0.003;
  return samples.slice(samples.findIndex(isSound), samples.findLastIndex(isSound) + 1);
}

function joined(parts: readonly Float32Array[]): Float32Array {
  return Float32Array.from(parts.flatMap((part) => [...part]));
}
