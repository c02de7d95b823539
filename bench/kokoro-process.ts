import { FRAME_SAMPLES, SAMPLE_RATE_HZ, wholeSamples } from "../src/audio/format.ts";
import { DecodedHops } from "../src/engines/kokoro/decoded-hops.ts";
import { openConvertedGraphs } from "../src/engines/kokoro/graphs/converted-graphs.ts";
import { createKokoroModel } from "../src/engines/kokoro/model.ts";
import { openKokoro, planningNetworkFor } from "../src/engines/kokoro/network.ts";
import { normStatisticsFor } from "../src/engines/kokoro/norm-statistics.ts";
import { ReadyVoices } from "../src/engines/kokoro/ready-voices.ts";
import { FRAMES_PER_STEP } from "../src/engines/prosody/frames.ts";
import { planContour, planTiming, speechSpan } from "../src/engines/prosody/plan.ts";
import { openTextReader } from "../src/engines/prosody/read-text.ts";
import { SentenceAudio } from "../src/engines/prosody/sentence-audio.ts";
import { embeddedCheckpoint } from "../src/models/installed-checkpoint.ts";
import { KOKORO_SPEAKER_VOICES, KOKORO_STARTING_VOICES } from "../src/models/kokoro-voices.ts";
import { plainScript } from "./plain-script.ts";

/** What `kokoro.ts` asks of a process in which there is nothing but Kokoro. */
export interface KokoroFigures {
  /** Resident after loading and after a sentence of the greatest length, in bytes. */
  readonly loadedBytes: number;
  readonly peakBytes: number;
  /** Processor time to the first frame of an ordinary sentence, and for each second of speech, in seconds. */
  readonly firstS: number;
  readonly perSecond: number;
  /** How far speech in pieces is from speech at once, in decibels, and the largest difference. */
  readonly snrDb: number;
  readonly largest: number;
}

const TEN_WORDS = "I will be there in ten minutes, so wait for me.";
const LONG =
  "When the rain had stopped and the clouds had gone over the hills, the children ran out of the old house and down to the river, where the boats lay on the bank and nobody had been for a week.";

const [, , folder = ""] = process.argv;
const voiceDir = embeddedCheckpoint.dir;
const { signal } = new AbortController();

async function figures(): Promise<KokoroFigures> {
  const model = await createKokoroModel({
    folder,
    voiceDir,
    labels: KOKORO_SPEAKER_VOICES,
    starts: KOKORO_STARTING_VOICES,
  });
  await spoken("Hello.");
  const loadedBytes = process.memoryUsage().rss;
  const firsts: number[] = [];
  const rates: number[] = [];
  for (let round = 0; round < 3; round++) {
    const short = await spoken(TEN_WORDS);
    firsts.push(short.firstS);
    const long = await spoken(LONG);
    rates.push(long.cpuS / long.soundS);
  }
  const peakBytes = process.resourceUsage().maxRSS * 1_024;
  await model.close();
  return {
    loadedBytes,
    peakBytes,
    firstS: Math.min(...firsts),
    perSecond: Math.min(...rates),
    ...(await borders()),
  };

  async function spoken(text: string) {
    const from = cpuS();
    let firstS = 0;
    let samples = 0;
    const speech = model.speak(plainScript(text, "0"), signal);
    for (let step = await speech.next(); !step.done; step = await speech.next()) {
      if (samples === 0) firstS = cpuS() - from;
      samples += step.value.samples.length;
    }
    return { firstS, cpuS: cpuS() - from, soundS: samples / SAMPLE_RATE_HZ };
  }
}

/** A sentence in pieces against the same at once. */
async function borders(): Promise<Pick<KokoroFigures, "snrDb" | "largest">> {
  const graphs = await openConvertedGraphs(folder);
  const network = await openKokoro(graphs);
  const reader = await openTextReader(voiceDir);
  try {
    const voices = new ReadyVoices({ folder, graphs, network, reader });
    const { parts, statistics } = await voices.cast([{ id: "af_heart", weight: 1 }], signal);
    const { planning, style } = planningNetworkFor(network, parts);
    const [{ ids } = { ids: [] }] = await reader.read(TEN_WORDS);
    const plan = await planContour(planning, await planTiming(planning, ids));
    const span = speechSpan(plan);
    const { inverseBasis, facts } = graphs;
    const decoding = {
      network,
      voice: { style: style(ids), statistics: normStatisticsFor(statistics, plan.frames / FRAMES_PER_STEP) },
      inverseBasis,
      missing: facts.missing,
    };
    const soundOf = async (sizes?: readonly number[]): Promise<Float32Array> => {
      const audio = new SentenceAudio(new DecodedHops(decoding, plan, span, sizes), span);
      const pieces: number[] = [];
      const frame = new Float32Array(FRAME_SAMPLES);
      for (;;) {
        const count = await audio.fill(frame, wholeSamples(0));
        if (count === 0) return Float32Array.from(pieces);
        pieces.push(...frame.subarray(0, count));
      }
    };
    const [whole, often] = [await soundOf([10_000]), await soundOf()];
    let [power, error, largest] = [0, 0, 0];
    for (const [at, sample] of whole.entries()) {
      const difference = sample - often[at]!;
      power += sample * sample;
      error += difference * difference;
      largest = Math.max(largest, Math.abs(difference));
    }
    return { snrDb: 10 * Math.log10(power / error), largest };
  } finally {
    await Promise.all([network.close(), reader.close()]);
  }
}

function cpuS(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

process.stdout.write(`${JSON.stringify(await figures())}\n`);
