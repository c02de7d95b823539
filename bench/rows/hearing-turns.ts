import { setTimeout as sleep } from "node:timers/promises";
import type { Clip } from "../../src/core/conversation.ts";
import { firstAudioMs } from "../first-audio-ms.ts";
import { startHearingServer, transcribed, wavOf } from "../hearing/hearing-server.ts";
import { talkOf } from "../hearing/long-talk.ts";
import { spokenOpenings } from "../hearing/spoken-openings.ts";
import { LoadClient } from "../load/load-client.ts";
import { type LoadJob, type LoadResult, runLoad } from "../load/load-job.ts";
import { percentile } from "../load/percentile.ts";
import type { ServerProcess } from "../load/server-process.ts";
import { heldOf, TURNS, tenWords } from "../load/service-speed.ts";
import type { Row } from "../row.ts";

/**
 * 40 authored turns over the stream, each after one audio-only turn, by both voices at several paces with up
 * to 3 s of silence; includes transcription, the gate and the first sentence.
 */
export const hearingTurn: Row = {
  id: "hearing-turn",
  what: "request to first audio of an authored turn after a spoken turn of 3 s that was never heard before, one client, warm",
  goal: "p50 ≤ 0.75 s",
  async measure({ isQuick }) {
    const clips = await spokenOpenings(3, isQuick ? 9 : 45);
    const server = await startHearingServer({ withWriter: true });
    const client = new LoadClient(tenWords(server, 1));
    try {
      const utterances: LoadResult[] = [];
      for (const clip of clips)
        utterances.push(await client.request(spokenTurn(clip), new AbortController().signal));
      // The first few load what is loaded once.
      const { p50, p95 } = firstAudioMs(utterances.slice(WARM_UP));
      return {
        measured: `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms of ${utterances.length - WARM_UP}`,
        isMet: p50 <= 750,
      };
    } finally {
      client.close();
      await server.stop();
    }
  },
};

const WARM_UP = 5;

function spokenTurn(clip: Clip): string {
  const audio = Buffer.from(wavOf(clip)).toString("base64");
  return JSON.stringify({ conversation: [{ speaker: "0", audio_wav_b64: audio }, { speaker: "1" }] });
}

/** Three times 40 s with and without a ninth client that sends `/v1/audio/transcriptions` clips of 5 s. */
export const hearingBeside: Row = {
  id: "hearing-beside",
  what: "underruns of 8 streams that answer a conversation and play in real time while a ninth client has clips of 5 s heard, one after the other; p95 of their first audio beside it and without",
  goal: "0; ≤ +30 ms",
  async measure({ isQuick, renderings, note }) {
    const server = await startHearingServer();
    const clips = await talkOf(renderings, "1", 5, isQuick ? 20 : 60);
    const phaseMs = isQuick ? 5_000 : 40_000;
    const [without, beside]: [LoadResult[], LoadResult[]] = [[], []];
    let heard = 0;
    try {
      await transcribed(server, clips[0]!);
      for (let phase = 0; phase < (isQuick ? 2 : 6); phase++) {
        const streams = runLoad({ ...answers(server), durationMs: phaseMs, seed: phase >> 1 });
        if (phase % 2 === 0) without.push(...(await streams));
        else {
          const stop = new AbortController();
          const hearing = hearUntil(stop.signal, server, clips);
          beside.push(...(await streams));
          stop.abort();
          heard += await hearing;
        }
        note(`phase ${phase + 1} is over`);
        await sleep(1_000);
      }
    } finally {
      await server.stop();
    }
    const [plain, busy] = [p95Of(without), p95Of(beside)];
    const { underruns, frames, failures } = heldOf(beside);
    return {
      measured:
        `${underruns} in ${frames} frames (without ${heldOf(without).underruns}), ${failures} failures; ` +
        `${busy.toFixed(0)} ms of ${beside.length} against ${plain.toFixed(0)} ms; ${heard} clips heard`,
      isMet: underruns === 0 && failures === 0 && busy - plain <= 30,
    };
  },
};

/** Eight clients who speak given words after two turns, one turn after the other. */
function answers(server: ServerProcess): LoadJob {
  const bodies = TURNS.map((text, at) =>
    JSON.stringify({
      conversation: [
        { speaker: "0", text: TURNS[(at + 3) % TURNS.length] },
        { speaker: "1", text: TURNS[(at + 6) % TURNS.length] },
        { speaker: "0", text },
      ],
    }),
  );
  return {
    ...tenWords(server, 8),
    bodies,
    pace: "real time",
    pauseMs: { start: 2_000, between: 500 },
  };
}

/** @returns how many clips were heard */
async function hearUntil(
  signal: AbortSignal,
  server: ServerProcess,
  clips: readonly Clip[],
): Promise<number> {
  let count = 0;
  while (!signal.aborted) await transcribed(server, clips[count++ % clips.length]!);
  return count;
}

/** Of those that began to sound; the end of a phase cuts off what does not. */
function p95Of(utterances: readonly LoadResult[]): number {
  return percentile(
    utterances.flatMap(({ firstAudioMs: ms }) => ms ?? []),
    0.95,
  );
}
