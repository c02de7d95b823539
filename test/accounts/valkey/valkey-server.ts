import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { launch } from "../../children.ts";
import { freePort } from "../../free-port.ts";
import { neededHere } from "../../needed-here.ts";
import { within } from "../../waiting.ts";

/** The server that this machine has: the first Valkey in the path, or Redis; null where there is none. */
const VALKEY: string | null =
  ["valkey-server", "redis-server"]
    .flatMap((name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)))
    .find((file) => existsSync(file)) ?? null;

const MISSING = "there is no valkey-server and no redis-server in the path: apt-get install redis-server";

/** Why a server cannot be started here, or null. */
export const NO_VALKEY: string | null = VALKEY === null ? MISSING : null;

/** Of a test that needs one. */
export function needsValkey(): { readonly skip: string | false } {
  return neededHere(NO_VALKEY);
}

/** The same for a test that needs certificates, too. */
export function needsValkeyAndOpenssl(): { readonly skip: string | false } {
  const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
  return neededHere(NO_VALKEY ?? (hasOpenssl ? null : "there is no openssl in the path"));
}

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
  /** Listens by TLS alone, with these. */
  readonly tls?: Certificate;
}

/** Files of a certificate that nobody has reason to trust, and of its key. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** Makes one for 127.0.0.1 and `localhost` in a folder. */
export function makeCertificate(folder: string): Certificate {
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const line = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout ${key} -out ${certificate}`;
  const names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
  const { status, stderr } = spawnSync("openssl", [...line.split(" "), "-addext", names], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`openssl made no certificate: ${stderr}`);
  return { certificate, key };
}

/** Starts a server and waits until it can be asked. */
export async function startValkey(options: ValkeyServerOptions = {}): Promise<ValkeyServer> {
  const { port = await freePort(), flags = [], tls } = options;
  const folder = mkdtempSync(join(tmpdir(), "antiphon-valkey-"));
  const line = [
    ...listening(port, tls),
    "--bind",
    "127.0.0.1",
    "--save",
    "",
    "--appendonly",
    "no",
    "--dir",
    folder,
  ];
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
    url: `redis${tls === undefined ? "" : "s"}://127.0.0.1:${port}`,
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

function listening(port: number, tls: Certificate | undefined): string[] {
  if (tls === undefined) return ["--port", `${port}`];
  const files = ["--tls-cert-file", tls.certificate, "--tls-key-file", tls.key];
  return ["--port", "0", "--tls-port", `${port}`, ...files, "--tls-auth-clients", "no"];
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
