import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { type BudgetOptions, EventBudget } from "../../limits/event-loop-budget.ts";
import { WyomingConnection } from "./connection.ts";
import { EventSocket } from "./event-socket.ts";
import { chooseEviction, isTooSlow, TOO_SLOW } from "./eviction.ts";
import { createInfoResponder } from "./info.ts";
import type { WyomingDeps } from "./requests.ts";
import { encodeEvent, wyomingEvent } from "./wyoming-event.ts";

export interface WyomingBridge {
  /** `tcp://host:port`, with the actual port. */
  readonly url: string;
  /** Stops accepting clients. Resolves when those connected were answered and have left. */
  finish(): Promise<void>;
  cut(): void;
}

export interface BridgeOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly maxConnections?: number;
  /** Work that each connection may cause outside requests. Default: `CONNECTION_BUDGET`. */
  readonly budget?: BudgetOptions;
}

/** A home has a handful. Each connection may buffer an event of 1 MiB. */
const MAX_CONNECTIONS = 64;
const CHECK_MS = 1_000;

export async function listenWyoming(
  deps: WyomingDeps,
  { host, port, maxConnections = MAX_CONNECTIONS, budget }: BridgeOptions,
): Promise<WyomingBridge> {
  const open = new Map<EventSocket, WyomingConnection>();
  const info = createInfoResponder(deps.version, deps.recogniserName, deps.listVoices);
  const server = createServer((socket) => {
    if (open.size >= maxConnections && !evictOne(open)) {
      refuseConnection(socket);
      return;
    }
    const events = new EventSocket(socket, deps.eventLoopShare, deps.stallTimeoutMs);
    const connection = new WyomingConnection(events, deps, info, new EventBudget(budget));
    open.set(events, connection);
    void connection.run().finally(() => open.delete(events));
  });
  server.listen({ host, port });
  await once(server, "listening");
  const timer = setInterval(() => endSlowRecordings(open, deps), CHECK_MS).unref();
  server.once("close", () => clearInterval(timer));
  // Accepting one connection may fail, such as for lack of file descriptors; the next may succeed.
  server.on("error", () => {});
  return {
    url: urlOf(server),
    async finish() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const connection of open.values()) connection.finish();
      await closed;
    },
    cut() {
      for (const events of open.keys()) events.cut("the server stops");
    },
  };
}

/** Ends the connection that makes the least use of its slot. Returns whether one could be ended. */
function evictOne(open: Map<EventSocket, WyomingConnection>): boolean {
  const activities = [...open].map(([events, connection]) => [events, connection.activity] as const);
  const eviction = chooseEviction(activities);
  if (eviction === null) return false;
  open.delete(eviction.connection);
  eviction.connection.cut(eviction.reason);
  return true;
}

/**
 * Ends recordings that arrive too slowly while other recordings, of this bridge or of other keys, wait for their
 * memory.
 */
function endSlowRecordings(open: Map<EventSocket, WyomingConnection>, { requestReader }: WyomingDeps): void {
  const all = [...open];
  for (const [, connection] of all) connection.noteProgress();
  const slow = all.filter(([, connection]) => connection.holdsRoom && isTooSlow(connection.activity));
  if (slow.length === 0) return;
  if (!requestReader.hasQueuedRecordings && !all.some(([, connection]) => connection.isWaitingForRoom))
    return;
  for (const [events] of slow) events.cut(TOO_SLOW);
}

function refuseConnection(socket: Socket): void {
  const text = "too many connections are busy: retry in a moment";
  socket.on("error", () => {});
  socket.end(encodeEvent(wyomingEvent("error", { text, code: "inference_error" })), () => socket.destroy());
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `tcp://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
