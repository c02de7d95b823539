import { closeSync, openSync, readSync } from "node:fs";
import { SHARED_BUCKETS, SHARED_STORE, type SharedServer } from "../accounts/shared-address.ts";
import type { Environment } from "../settings/environment.ts";
import type { Settings } from "../settings/schema.ts";

/** Where a secret may come from: the key of an endpoint, or an address that may hold a password. */
export interface SecretSources {
  /** The process's environment; the variable of that name there wins. */
  readonly env: Environment;
  /** A file that holds it and nothing else, or none. */
  readonly file?: string | undefined;
  /** The variable in the environment, as in `ANTIPHON_WRITER_API_KEY`, or none. */
  readonly variable?: string | undefined;
  /** The setting that names the file, as in `writer.apiKeyFile`; messages name it, too. */
  readonly setting: string;
  /** What is to be found there, for messages: the endpoint's key unless given. */
  readonly what?: string;
}

/** A secret that was named but cannot be used. The message never quotes it. */
export class SecretError extends Error {
  override readonly name = "SecretError";
}

/**
 * The secret, without the spaces around it; `null` where none is set, as for a server of one's own. Throws
 * {@link SecretError} when the file is missing or unreadable, or what is there is empty or has characters beyond ASCII's
 * visible ones.
 */
export function readSecret(sources: SecretSources): string | null {
  const { env, file, variable, setting, what = "the endpoint's key" } = sources;
  if (variable !== undefined && env[variable]) return checked(env[variable], variable, what);
  return file === undefined ? null : checked(readStart(file, setting), `${setting} (${file})`, what);
}

/**
 * Where the database of keys and usage is, or null where none is named, or none is asked for.
 *
 * @throws SecretError when it cannot be read.
 */
export function storeUrl({ store }: Pick<Settings, "store">, env: Environment): string | null {
  return store.kind === "libsql" ? null : urlOf(SHARED_STORE, store.urlFile, env);
}

/** Where the shared buckets are, in the same way. */
export function bucketsUrl({ buckets }: Pick<Settings, "buckets">, env: Environment): string | null {
  return buckets.kind === "memory" ? null : urlOf(SHARED_BUCKETS, buckets.urlFile, env);
}

/** Returns the auth tokens that Twilio may sign with; none where none is set. @throws SecretError if they cannot be used */
export function twilioAuthTokens(
  { twilio }: Partial<Pick<Settings, "twilio">>,
  env: Environment,
): readonly string[] {
  const [setting, variable] = ["twilio.authTokenFile", "ANTIPHON_TWILIO_AUTH_TOKEN"];
  const sources = { env, file: twilio?.authTokenFile, variable, setting, what: "Twilio's auth token" };
  const tokens = readSecret(sources)?.split(",") ?? [];
  // Anybody could sign with an empty token.
  if (tokens.includes(""))
    throw new SecretError(`${variable} or ${setting} holds a comma with no token beside it`);
  return tokens;
}

/** No secret is longer. A larger file is something else, and is not read whole. */
const MAX_CHARS = 4096;

function urlOf(
  { what, variable, setting }: SharedServer,
  file: string | undefined,
  env: Environment,
): string | null {
  return readSecret({ env, file, variable, setting, what: `the address of ${what}` });
}

function checked(value: string, where: string, what: string): string {
  const secret = value.trim();
  if (secret === "") throw new SecretError(`${where} is empty: put ${what} there, or leave it out`);
  if (secret.length > MAX_CHARS)
    throw new SecretError(`${where} holds more than ${MAX_CHARS} characters: it should be ${what} alone`);
  if (!/^[\x21-\x7e]+$/.test(secret))
    throw new SecretError(
      `${where} holds a line break, a space or another character that it cannot have: it should be ${what} alone`,
    );
  return secret;
}

function readStart(file: string, setting: string): string {
  try {
    const descriptor = openSync(file, "r");
    try {
      const bytes = Buffer.alloc(MAX_CHARS + 64);
      return bytes.toString("utf8", 0, readSync(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
    throw new SecretError(
      code === "ENOENT"
        ? `${setting} (${file}) does not exist`
        : `${setting} (${file}) cannot be read: ${code}`,
      { cause },
    );
  }
}
