import { setMaxListeners } from "node:events";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { FRAME_S } from "../../audio/format.ts";
import { parseTtsRequest } from "../../contract/validate.ts";
import type { SpeechModel } from "../../core/speech-model.ts";
import { PUBLIC_MODELS } from "../../models/public-models.ts";
import { prepareTts } from "../../serving/prepare/prepare.ts";
import { scriptOf } from "../../serving/prepare/script-of.ts";
import { BUFFER_MS, MAX_AHEAD_MS, type Utterance } from "./load-job.ts";
import { Playback } from "./playback.ts";
import { startWithinMs } from "./service-speed.ts";
import { TEN_WORDS, TURNS } from "./texts.ts";

/** Speaks ten words after ten words, as fast as the engine gives them; the first five do not count. */
export async function engineAlone(model: SpeechModel, requests: number): Promise<readonly Utterance[]> {
  const utterances: Utterance[] = [];
  for (let index = -5; index < requests; index++) {
    const text = TEN_WORDS[(index + 5) % TEN_WORDS.length]!;
    const utterance = await listen(model, text, false, NEVER);
    if (index >= 0) utterances.push(utterance);
  }
  return utterances;
}

/** `listeners` at once play one turn after the other in real time, with neither sockets nor server between. */
export async function engineStreams(
  model: SpeechModel,
  listeners: number,
  durationMs: number,
): Promise<readonly Utterance[]> {
  const startMs = startWithinMs(durationMs);
  const stop = AbortSignal.timeout(durationMs + startMs);
  setMaxListeners(0, stop);
  const utterances: Utterance[] = [];
  await Promise.all(
    Array.from({ length: listeners }, async (_, listener) => {
      await sleep((startMs * listener) / listeners);
      for (let turn = listener; !stop.aborted; turn++) {
        utterances.push(await listen(model, TURNS[turn % TURNS.length]!, true, stop));
      }
    }),
  );
  return utterances;
}

async function listen(
  model: SpeechModel,
  text: string,
  isPlayed: boolean,
  signal: AbortSignal,
): Promise<Utterance> {
  const prepared = prepareTts(parseTtsRequest({ text }), () =>
    PUBLIC_MODELS.find(({ card }) => card.isDefault),
  );
  const playback = new Playback(BUFFER_MS);
  const askedMs = performance.now();
  let firstAudioMs: number | null = null;
  let totalMs: number | null = null;
  let [underruns, worstLateMs] = [0, 0];
  let failure: string | null = null;
  try {
    for await (const _frame of model.speak(scriptOf(prepared, prepared.model.preset), signal)) {
      const nowMs = performance.now();
      firstAudioMs ??= nowMs - askedMs;
      const lateMs = playback.take(nowMs);
      if (lateMs > 0) underruns += 1;
      worstLateMs = Math.max(worstLateMs, lateMs);
      const aheadMs = playback.aheadMs(nowMs);
      if (isPlayed && aheadMs > MAX_AHEAD_MS) await sleep(aheadMs - MAX_AHEAD_MS / 2, undefined, { signal });
    }
    totalMs = performance.now() - askedMs;
    if (isPlayed) await sleep(Math.max(0, playback.aheadMs(performance.now())), undefined, { signal });
  } catch (error) {
    if (!signal.aborted) failure = error instanceof Error ? error.message : String(error);
  }
  const { frames } = playback;
  return { firstAudioMs, totalMs, openingRms: 1, frames, underruns, worstLateMs, failure };
}

/** Seconds of computing a second of speech, one utterance at a time. */
export function realTimeFactor(utterances: readonly Utterance[]): number {
  const frames = utterances.reduce((sum, utterance) => sum + utterance.frames, 0);
  const totalMs = utterances.reduce((sum, utterance) => sum + (utterance.totalMs ?? 0), 0);
  return totalMs / 1_000 / (frames * FRAME_S);
}

const NEVER = new AbortController().signal;
