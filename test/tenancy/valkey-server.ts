import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { launch } from "../children.ts";
import { within } from "../waiting.ts";

/** The server that this machine has: the first Valkey in the path, or Redis; null where there is none. */
const VALKEY: string | null =
  ["valkey-server", "redis-server"]
    .flatMap((name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)))
    .find((file) => existsSync(file)) ?? null;

const MISSING = "there is no valkey-server and no redis-server in the path: apt-get install redis-server";

/** What a test that needs one is told where there is none. Where everything has to be tested, that is an error. */
export const NEEDS_VALKEY = { skip: VALKEY === null && MISSING } as const;
if (VALKEY === null && process.env.CI) throw new Error(MISSING);

/** A server of its own, empty, in memory alone. */
export interface ValkeyServer {
  readonly port: number;
  readonly url: string;
  /** Waits until it has ended where the signal ends it. */
  signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void>;
  stop(): Promise<void>;
}

export interface ValkeyServerOptions {
  /** Its port, as that of one before it; a free one unless given. */
  readonly port?: number;
  /** More of its own flags. */
  readonly flags?: readonly string[];
  /** Listens by TLS alone. */
  readonly isTls?: boolean;
}

/** Starts a server and waits until it can be asked. */
export async function startValkey(options: ValkeyServerOptions = {}): Promise<ValkeyServer> {
  const { port = await freePort(), flags = [], isTls = false } = options;
  const folder = mkdtempSync(join(tmpdir(), "antiphon-valkey-"));
  const listening = isTls ? ["--port", "0", "--tls-port", `${port}`] : ["--port", `${port}`];
  const line = [...listening, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder];
  if (VALKEY === null) throw new Error(MISSING);
  const child = launch(VALKEY, [...line, ...flags], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(child, "exit").then(() => rmSync(folder, { recursive: true, force: true }));
  const said = await within("a Valkey server", firstWords(child));
  if (said !== null) {
    // Somebody else has taken the port meanwhile.
    if (options.port === undefined && /in use/.test(said)) return startValkey(options);
    throw new Error(`The Valkey server did not start:\n${said}`);
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    async signal(name) {
      child.kill(name);
      if (name === "SIGKILL") await ended;
    },
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Null once it is ready; what it said where it ended instead. */
function firstWords(child: ChildProcess): Promise<string | null> {
  let said = "";
  return new Promise((resolve, reject) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk;
      if (/ready to accept connections/i.test(said)) resolve(null);
    });
    child.once("error", reject);
    child.once("close", () => resolve(said));
  });
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}
