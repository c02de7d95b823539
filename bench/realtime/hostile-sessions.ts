import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";

/** Attacks that hostile sessions repeat until the job ends. */
export const ATTACKS = {
  /** Asks for replies and cancels them. */
  "responses and cancels": pouring([{ type: "response.create" }, { type: "response.cancel" }]),
  /** Has its settings echoed, with as large a text as they may have. */
  "updates with long echoes": pouring([
    { type: "session.update", session: { instructions: "x".repeat(60_000) } },
  ]),
  "messages of a megabyte that nothing reads": pouring([
    `{"type":"session.update","session":{"x":[${"{},".repeat(330_000)}{}]}}`,
  ]),
  "messages of 4 MiB that never end": unfinished,
  "sound of two bytes": pouring([{ type: "input_audio_buffer.append", audio: "AAA=" }]),
  pings: pinging,
  "speech as fast as it is taken": speaking,
} satisfies Record<string, Attack>;

export interface HostileSessions {
  readonly url: string;
  readonly key: string;
  readonly attack: keyof typeof ATTACKS;
  readonly sessions: number;
  /** Speech: 24 kHz, 16-bit, in base64. */
  readonly speech: readonly string[];
}

/** What came of them: sessions that the server closed or refused, by code. */
export type HostileEnds = Readonly<Record<string, number>>;

type Attack = (socket: WebSocket, job: HostileSessions) => Promise<void>;

/** Bytes that may wait here before no more are sent. */
const MAX_WAITING_BYTES = 2 ** 20;

async function room(socket: WebSocket): Promise<void> {
  while (socket.readyState === socket.OPEN && socket.bufferedAmount > MAX_WAITING_BYTES) await sleep(5);
}

function pouring(events: readonly (object | string)[]): Attack {
  const texts = events.map((event) => (typeof event === "string" ? event : JSON.stringify(event)));
  return async (socket) => {
    while (socket.readyState === socket.OPEN) {
      for (let count = 0; count < 50 && socket.bufferedAmount < MAX_WAITING_BYTES; count++)
        for (const text of texts) socket.send(text);
      await room(socket);
      await sleep(1);
    }
  };
}

async function unfinished(socket: WebSocket): Promise<void> {
  for (let sent = 0; sent < 4e6 && socket.readyState === socket.OPEN; sent += 500_000) {
    socket.send(" ".repeat(500_000), { fin: false });
    await room(socket);
  }
  while (socket.readyState === socket.OPEN) await sleep(100);
}

async function pinging(socket: WebSocket): Promise<void> {
  const data = Buffer.alloc(100);
  while (socket.readyState === socket.OPEN) {
    for (let count = 0; count < 1_000 && socket.bufferedAmount < MAX_WAITING_BYTES; count++)
      socket.ping(data);
    await room(socket);
    await sleep(1);
  }
}

async function speaking(socket: WebSocket, { speech }: HostileSessions): Promise<void> {
  while (socket.readyState === socket.OPEN) {
    for (const audio of speech) {
      await room(socket);
      if (socket.readyState !== socket.OPEN) return;
      socket.send(JSON.stringify({ type: "input_audio_buffer.append", audio }));
    }
  }
}

/** Does what the first message says, reports that it has begun, and at the second reports what came of it and ends. */
process.once("message", (job: HostileSessions) => {
  const ends: Record<string, number> = {};
  const open = (): void => {
    const address = `${job.url.replace("http", "ws")}/v1/realtime`;
    const socket = new WebSocket(address, { headers: { Authorization: `Bearer ${job.key}` } });
    socket.on("open", () => {
      void ATTACKS[job.attack](socket, job).catch(() => {});
    });
    socket.on("message", () => {});
    socket.on("unexpected-response", (_request, { statusCode }) => {
      ends[`${statusCode}`] = (ends[`${statusCode}`] ?? 0) + 1;
      socket.terminate();
    });
    socket.on("error", () => {});
    socket.on("close", (code) => {
      ends[`${code}`] = (ends[`${code}`] ?? 0) + 1;
      setTimeout(open, 1_000);
    });
  };
  for (let count = 0; count < job.sessions; count++) open();
  process.send?.("begun");
  process.once("message", () => {
    process.send?.(ends, () => process.exit());
  });
});
// The parent process has gone.
process.once("disconnect", () => process.exit());
