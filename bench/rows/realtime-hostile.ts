import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { startCrowdServer } from "../crowd/crowd-server.ts";
import { watchMemory } from "../crowd/memory-watch.ts";
import { percentile } from "../load/percentile.ts";
import type { ServerProcess } from "../load/server-process.ts";
import type { HostileEnds, HostileSessions } from "../realtime/hostile-sessions.ts";
import type { Row } from "../row.ts";
import { startTold } from "../told-process.ts";

const SESSIONS = 16;
const PROGRAM = new URL("../realtime/hostile-sessions.js", import.meta.url);
/** Milliseconds of sound in a piece. */
const PIECE_MS = 20;
const PIECE_BYTES = 48 * PIECE_MS;
const ATTACKS = [
  "responses and cancels",
  "updates with long echoes",
  "messages of a megabyte that nothing reads",
  "messages of 4 MiB that never end",
  "sound of two bytes",
  "pings",
  "speech as fast as it is taken",
] as const;

/**
 * 16 sessions of one key do one kind of harm for 40 s, and are opened again when closed. Another key asks
 * `GET /v1/usage` every 10 ms and speaks in a transcription session in real time.
 */
export const realtimeHostile: Row = {
  id: "realtime-hostile",
  what:
    "beside 16 hostile sessions of one key, of each kind in turn: `GET /v1/usage` of another key, p99; that key's `speech_started` " +
    "after speech began, p95; and the most that the server has resident",
  goal: "usage ≤ 50 ms, speech_started ≤ 600 ms, 700 MB",
  async measure({ isQuick, note }) {
    const found: Found[] = [];
    for (const attack of [null, ...ATTACKS]) {
      // A server of its own for each, so that none pays for another.
      const server = await startCrowdServer(1, 1);
      try {
        const one = await beside(server, server.keys, attack, isQuick ? 10_000 : 40_000);
        found.push(one);
        note(described(one));
      } finally {
        await server.stop();
      }
    }
    return {
      measured: found.map(described).join("; "),
      isMet: found.every(
        ({ usage, started, maxMb }) => usage.p99 <= 50 && started.p95 <= 600 && maxMb <= 700,
      ),
    };
  },
};

interface Found {
  readonly name: string;
  readonly usage: { readonly p50: number; readonly p99: number };
  readonly started: { readonly p50: number; readonly p95: number; readonly missed: number };
  readonly maxMb: number;
  readonly ends: HostileEnds;
}

async function beside(
  server: ServerProcess,
  [honest = "", hostile = ""]: readonly string[],
  attack: HostileSessions["attack"] | null,
  durationMs: number,
): Promise<Found> {
  const speech = await speechPieces(server);
  const job = { url: server.url, key: hostile, sessions: SESSIONS, speech };
  const user = await openUser(server.url, honest);
  const memory = watchMemory(server.pid);
  const attacking = attack === null ? null : await startTold<HostileEnds>(PROGRAM, { ...job, attack });
  let isOver = false;
  const looks: number[] = [];
  const looking = (async () => {
    while (!isOver) {
      const askedMs = performance.now();
      const reply = await fetch(`${server.url}/v1/usage`, { headers: { Authorization: `Bearer ${honest}` } });
      await reply.arrayBuffer();
      if (reply.status !== 200) throw new Error(`GET /v1/usage answered ${reply.status}`);
      looks.push(performance.now() - askedMs);
      await sleep(10);
    }
  })();
  try {
    const delays = await talk(user, speech, performance.now() + durationMs);
    isOver = true;
    await looking;
    const heard = delays.filter((each) => each !== null);
    return {
      name: attack ?? "alone",
      usage: { p50: percentile(looks, 0.5), p99: percentile(looks, 0.99) },
      started: {
        p50: heard.length === 0 ? Number.POSITIVE_INFINITY : percentile(heard, 0.5),
        p95: heard.length === 0 ? Number.POSITIVE_INFINITY : percentile(heard, 0.95),
        missed: delays.length - heard.length,
      },
      maxMb: memory.maxMb,
      ends: (await attacking?.stop()) ?? {},
    };
  } finally {
    isOver = true;
    memory.stop();
    user.terminate();
    await Promise.allSettled([looking]);
  }
}

/** A sentence of the server's own voice, in pieces. */
async function speechPieces({ url, key }: ServerProcess): Promise<readonly string[]> {
  const reply = await fetch(`${url}/v1/audio/speech`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      input: "Tell me what the weather is going to be like tomorrow.",
      response_format: "pcm",
    }),
  });
  const pcm = Buffer.from(await reply.arrayBuffer());
  // From its first loud sample on.
  let from = 0;
  while (from < pcm.length - 1 && Math.abs(pcm.readInt16LE(from)) < 1_000) from += 2;
  const pieces: string[] = [];
  for (let at = from; at < pcm.length; at += PIECE_BYTES)
    pieces.push(pcm.subarray(at, at + PIECE_BYTES).toString("base64"));
  return pieces;
}

async function openUser(url: string, key: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/realtime?intent=transcription`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  await new Promise((resolve, reject) => socket.once("message", resolve).once("error", reject));
  return socket;
}

/** Speaks in real time, with a pause of 1.2 s after each sentence. Resolves to the milliseconds until each was noticed. */
async function talk(user: WebSocket, speech: readonly string[], untilMs: number): Promise<(number | null)[]> {
  const silence = Array.from({ length: 60 }, () => Buffer.alloc(PIECE_BYTES).toString("base64"));
  const delays: (number | null)[] = [];
  let beganMs: number | null = null;
  user.on("message", (data) => {
    if (beganMs === null || !`${data}`.includes("speech_started")) return;
    delays.push(performance.now() - beganMs);
    beganMs = null;
  });
  let dueMs = performance.now();
  const send = async (pieces: readonly string[]) => {
    for (const audio of pieces) {
      user.send(JSON.stringify({ type: "input_audio_buffer.append", audio }));
      dueMs += PIECE_MS;
      await sleep(Math.max(0, dueMs - performance.now()));
    }
  };
  await send(silence);
  while (performance.now() < untilMs) {
    beganMs = performance.now();
    await send(speech);
    await send(silence);
    if (beganMs !== null) delays.push(null);
    beganMs = null;
  }
  return delays;
}

function described({ name, usage, started, maxMb, ends }: Found): string {
  const closed = Object.entries(ends).map(([code, count]) => `${count} × ${code}`);
  const missed = started.missed === 0 ? "" : `, ${started.missed} missed`;
  return (
    `${name}: usage p50 ${usage.p50.toFixed(0)}, p99 ${usage.p99.toFixed(0)} ms; speech_started p50 ${started.p50.toFixed(0)}, ` +
    `p95 ${started.p95.toFixed(0)} ms${missed}; ${maxMb.toFixed(0)} MB${closed.length === 0 ? "" : `; ended ${closed.join(", ")}`}`
  );
}
