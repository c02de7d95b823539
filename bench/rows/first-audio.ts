import { firstAudioMs } from "../first-audio-ms.ts";
import { runLoad } from "../load/load-job.ts";
import { startServerProcess } from "../load/server-process.ts";
import { oneClient, tenWords } from "../load/service-speed.ts";
import type { Row } from "../row.ts";

/**
 * 300 requests of ten words (20 sentences, random order), one after the other, from just before the first
 * byte is written to the first `audio` event. The louder of the first two frames must be above −40 dB of
 * full scale.
 */
export const firstAudio: Row = {
  id: "first-audio",
  what: "first audio of `/v1/converse/stream`, 10 words, one client, warm (speech in the first two frames)",
  goal: "p50 ≤ 25 ms, p95 ≤ 40 ms",
  async measure({ isQuick }) {
    const server = await startServerProcess();
    try {
      const utterances = await oneClient(server, isQuick ? 30 : 300);
      const { p50, p95 } = firstAudioMs(utterances);
      const silent = utterances.filter(({ openingRms }) => openingRms < SPEECH_RMS).length;
      const speech = silent === 0 ? "speech in all" : `no speech in ${silent}`;
      return {
        measured: `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms; ${speech} of ${utterances.length}`,
        isMet: p50 <= 25 && p95 <= 40 && silent === 0,
      };
    } finally {
      await server.stop();
    }
  },
};

/**
 * 200 requests from eight clients that play in real time and wait up to two seconds between requests. The
 * second figure: eight clients that never wait and read as fast as they can.
 */
export const eightClients: Row = {
  id: "eight-clients",
  what: "the same with 8 clients, playing in real time",
  goal: "p95 ≤ 120 ms",
  async measure({ isQuick }) {
    const server = await startServerProcess();
    try {
      await runLoad({ ...tenWords(server, 8), requests: 24 });
      const playing = await runLoad({
        ...tenWords(server, 8),
        pace: "real time",
        pauseMs: { start: 3_000, between: 2_000 },
        requests: isQuick ? 24 : 200,
      });
      const greedy = await runLoad({ ...tenWords(server, 8), requests: isQuick ? 40 : 200 });
      const p95 = firstAudioMs(playing).p95;
      return {
        measured:
          `p95 ${p95.toFixed(1)} ms of ${playing.length}; when all read as fast as they can, ` +
          `p95 ${firstAudioMs(greedy).p95.toFixed(1)} ms`,
        isMet: p95 <= 120,
      };
    } finally {
      await server.stop();
    }
  },
};

/** A frame this loud (−40 dB of full scale) is speech: pauses of the voice are below −60 dB. */
const SPEECH_RMS = 0.01;
