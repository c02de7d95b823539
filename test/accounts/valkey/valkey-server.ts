import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { launch } from "../../children.ts";
import { freePort } from "../../free-port.ts";
import { neededHere } from "../../needed-here.ts";
import { within } from "../../waiting.ts";

/** The first Valkey in the path, or Redis; null without either. */
const VALKEY: string | null =
  ["valkey-server", "redis-server"]
    .flatMap((name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)))
    .find((file) => existsSync(file)) ?? null;

const MISSING = "there is no valkey-server and no redis-server in the path: apt-get install redis-server";

export const NO_VALKEY: string | null = VALKEY === null ? MISSING : null;

export function needsValkey(): { readonly skip: string | false } {
  return neededHere(NO_VALKEY);
}

/** Skips a test that also needs certificates. */
export function needsValkeyAndOpenssl(): { readonly skip: string | false } {
  const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
  return neededHere(NO_VALKEY ?? (hasOpenssl ? null : "there is no openssl in the path"));
}

/** An empty server in memory. */
export interface ValkeyServer {
  readonly port: number;
  readonly url: string;
  /** After SIGKILL, waits for the end. */
  signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void>;
  stop(): Promise<void>;
}

export interface ValkeyServerOptions {
  /** Default: a free port. */
  readonly port?: number;
  readonly flags?: readonly string[];
  /** Listens with TLS only. */
  readonly tls?: Certificate;
}

/** A self-signed certificate and its key. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** Creates a certificate for 127.0.0.1 and `localhost`. */
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
    // Another process took the port.
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

/** Returns null when the server is ready, or its output if it ended. */
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
