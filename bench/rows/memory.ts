import { type LoadJob, runLoad } from "../load/load-job.ts";
import { type ServerProcess, startServerProcess } from "../load/server-process.ts";
import { converseBody, TEN_WORDS } from "../load/service-speed.ts";
import { residentMb } from "../resident.ts";
import type { Row } from "../row.ts";

/**
 * Medians of seven readings in three seconds, after a second without requests: after one request, and after
 * 500 to 2,500, half streams, half whole replies, four at a time.
 */
export const memory: Row = {
  id: "memory",
  what: "resident memory, idle; and growth over 2,000 requests",
  goal: "≤ 290 MB; flat (within 5 %)",
  async measure({ isQuick, note }) {
    const server = await startServerProcess();
    try {
      await load(server, 1, 0);
      const idle = await residentMb(server.pid);
      const block = isQuick ? 40 : 500;
      const after: number[] = [];
      for (let blocks = 0; blocks < 5; blocks++) {
        await load(server, block, blocks);
        after.push(await residentMb(server.pid));
        note(`${block * (blocks + 1)} requests: ${after.at(-1)?.toFixed(0)} MB`);
      }
      const [first = 0, last = 0] = [after[0], after.at(-1)];
      return {
        measured: `${idle.toFixed(0)} MB; ${first.toFixed(0)} MB after ${block}, ${last.toFixed(0)} MB after ${5 * block}`,
        isMet: idle <= 290 && last <= 1.05 * first,
      };
    } finally {
      await server.stop();
    }
  },
};

async function load(server: ServerProcess, requests: number, seed: number): Promise<void> {
  const texts = [...SHORT, ...TEN_WORDS.slice(0, 2)];
  const job: LoadJob = {
    url: server.url,
    key: server.key,
    path: "/v1/converse/stream",
    bodies: texts.map(converseBody),
    clients: 4,
    pace: "at once",
    pauseMs: { start: 0, between: 0 },
    requests: Math.ceil(requests / 2),
    seed,
  };
  const replies = [
    ...(await runLoad(job)),
    ...(await runLoad({
      ...job,
      path: "/v1/tts",
      bodies: texts.map((text) => JSON.stringify({ text })),
      requests: Math.floor(requests / 2),
    })),
  ];
  const failure = replies.find((reply) => reply.failure !== null)?.failure;
  if (failure !== undefined) throw new Error(`a request failed: ${failure}`);
}

const SHORT: readonly string[] = [
  "Yes, of course.",
  "I am not sure.",
  "Where did you see it?",
  "That sounds good to me.",
  "Not today, thank you.",
  "How much is it?",
  "Let us wait a moment.",
  "Good morning, everyone.",
];
