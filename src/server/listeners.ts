import type { createHttpServer } from "../api/http/server.ts";
import type { WyomingBridge } from "../api/wyoming/bridge.ts";

/** A listening server: HTTP, separate metrics, or Wyoming. */
export interface Listener {
  /** `http://host:port`, with the actual port. */
  readonly url: string;
  /** Stops accepting. Resolves when every connection has ended. */
  close(): Promise<void>;
  /**
   * Resolves when pending requests are answered and their clients have received the answers. Called once, after
   * {@link close}.
   */
  idle(): Promise<void>;
  /** Ends all connections now. */
  cut(): void;
}

/** Listens for HTTP. If that fails, closes the server and rejects with a sentence that says what to do. */
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

/** Wraps the Wyoming bridge. */
export function wyomingListener(bridge: WyomingBridge): Listener {
  let finished: Promise<void> | null = null;
  const finish = (): Promise<void> => {
    finished ??= bridge.finish();
    return finished;
  };
  return { url: bridge.url, close: finish, idle: finish, cut: () => bridge.cut() };
}

/**
 * Closes listeners: pending work is finished within the grace period, then remaining connections are cut. Resolves
 * when every connection has ended.
 *
 * @param graceMs milliseconds for pending work
 * @param drain finishes current speech and transcriptions, and refuses the rest
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
  // A client that never reads would otherwise delay the stop indefinitely.
  const overdue = setTimeout(cut, graceMs + LINGER_MS);
  const graceOver = new Promise((resolve) => setTimeout(resolve, graceMs).unref());
  await drain();
  // Finished speech may not have been read yet.
  await Promise.race([Promise.all(listeners.map((listener) => listener.idle())), graceOver]);
  clearTimeout(overdue);
  // Cuts connections that stay open after their last response.
  setTimeout(cut, LINGER_MS).unref();
  await closed;
}

/**
 * Turns a system error about a port into a sentence with the remedy; returns other errors unchanged.
 *
 * @param flags command line options that choose another address and port
 */
export function asListenError(error: unknown, flags = { host: "--host", port: "--port" }): unknown {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return error;
  const { code, syscall, address, port, hostname } = error as SystemError;
  const sentence = SENTENCES[code]?.({ host: address ?? hostname ?? "", port: `${port}`, flags });
  return (syscall === "listen" || syscall === "getaddrinfo") && sentence !== undefined
    ? new Error(sentence, { cause: error })
    : error;
}

/** Time for a connection's last response after the stop. */
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
  /** Command line options that choose another address and port. */
  readonly flags: { readonly host: string; readonly port: string };
}

const SENTENCES: Readonly<Record<string, (at: At) => string>> = {
  EADDRINUSE: ({ host, port, flags }) =>
    `Port ${port} of ${host} is in use: stop what uses it, or choose another with ${flags.port}.`,
  EADDRNOTAVAIL: ({ host, flags }) =>
    `The address ${host} is not one of this machine: choose another with ${flags.host}.`,
  EACCES: ({ host, port, flags }) =>
    `Port ${port} of ${host} is not for ordinary users: choose one from 1024 up with ${flags.port}.`,
  ENOTFOUND: ({ host, flags }) => `The address ${host} is unknown: choose another with ${flags.host}.`,
};
