import type { createHttpServer } from "../api/http/server.ts";
import type { WyomingBridge } from "../api/wyoming/bridge.ts";

/** A way by which clients come in, and which listens: HTTP, `/metrics` by itself, Wyoming. */
export interface Listener {
  /** With the port that was taken: `http://host:port`. */
  readonly url: string;
  /** Takes nobody new from now on. Resolves once every connection has ended. */
  close(): Promise<void>;
  /** Resolves once what was begun is answered, and its client has taken it; called once, after {@link close}. */
  idle(): Promise<void>;
  /** Ends all connections now. */
  cut(): void;
}

/** Has an HTTP server listen. Rejects with a sentence on what to do where it cannot; it is closed then. */
export async function listenHttp(
  app: ReturnType<typeof createHttpServer>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listener> {
  try {
    const url = await app.listen({ host, port });
    return {
      url,
      close: () => app.close(),
      idle: () => app.connections.idle(),
      cut: () => {
        app.server.closeAllConnections();
        app.connections.cut();
      },
    };
  } catch (error) {
    await app.close();
    throw asListenError(error);
  }
}

/** The Wyoming bridge as a listener. */
export function wyomingListener(bridge: WyomingBridge): Listener {
  let finished: Promise<void> | null = null;
  const finish = (): Promise<void> => {
    finished ??= bridge.finish();
    return finished;
  };
  return { url: bridge.url, close: finish, idle: finish, cut: () => bridge.cut() };
}

/**
 * Closes listeners: what was begun is finished first, within the grace, and connections that are left soon after that are
 * cut. Resolves once every connection has ended.
 *
 * @param graceMs how long what was begun may take, in milliseconds
 * @param drain finishes what is being spoken and heard, and refuses the rest
 */
export async function closeListeners(
  listeners: readonly Listener[],
  graceMs: number,
  drain: () => Promise<unknown>,
): Promise<void> {
  const closed = Promise.all(listeners.map((listener) => listener.close()));
  const cut = () => {
    for (const listener of listeners) listener.cut();
  };
  // A client that reads nothing would otherwise hold its stream, and the stop, for as long as it likes.
  const overdue = setTimeout(cut, graceMs + LINGER_MS);
  const graceOver = new Promise((resolve) => setTimeout(resolve, graceMs).unref());
  await drain();
  // What is spoken has yet to be read.
  await Promise.race([Promise.all(listeners.map((listener) => listener.idle())), graceOver]);
  clearTimeout(overdue);
  // Connections that do not end with their last response are cut too.
  setTimeout(cut, LINGER_MS).unref();
  await closed;
}

/**
 * What the operating system said when it was asked for a port, as one sentence with the remedy; anything else as it is.
 *
 * @param flags those that choose another address and port
 */
export function asListenError(error: unknown, flags = { host: "--host", port: "--port" }): unknown {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return error;
  const { code, syscall, address, port, hostname } = error as SystemError;
  const sentence = SENTENCES[code]?.({ host: address ?? hostname ?? "", port: `${port}`, flags });
  return (syscall === "listen" || syscall === "getaddrinfo") && sentence !== undefined
    ? new Error(sentence, { cause: error })
    : error;
}

/** How long a connection may take over its last response once the server stops. */
const LINGER_MS = 1_000;

interface SystemError {
  readonly code: string;
  readonly syscall: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

interface At {
  readonly host: string;
  readonly port: string;
  /** Those that choose another. */
  readonly flags: { readonly host: string; readonly port: string };
}

const SENTENCES: Readonly<Record<string, (at: At) => string>> = {
  EADDRINUSE: ({ host, port, flags }) =>
    `Port ${port} of ${host} is in use: stop what uses it, or choose another with ${flags.port}.`,
  EADDRNOTAVAIL: ({ host, flags }) =>
    `The address ${host} is not one of this machine: choose another with ${flags.host}.`,
  EACCES: ({ host, port, flags }) =>
    `Port ${port} of ${host} is not for ordinary users: choose one from 1024 up with ${flags.port}.`,
  ENOTFOUND: ({ host, flags }) => `The address ${host} is not known: choose another with ${flags.host}.`,
};
