import { closeSync, openSync, readSync } from "node:fs";
import { SHARED_BUCKETS, SHARED_STORE, type SharedServer } from "../accounts/shared-address.ts";
import type { Environment } from "../settings/environment.ts";
import type { Settings } from "../settings/schema.ts";

/** Possible sources of a secret: an endpoint's key, or an address with a password. */
export interface SecretSources {
  /** Its variable has precedence over the file. */
  readonly env: Environment;
  /** A file that contains only the secret. */
  readonly file?: string | undefined;
  /** An environment variable, such as `ANTIPHON_WRITER_API_KEY`. */
  readonly variable?: string | undefined;
  /** The setting that names the file, such as `writer.apiKeyFile`; used in messages. */
  readonly setting: string;
  /** What the secret is, for messages. Default: the endpoint's key. */
  readonly what?: string;
}

/** A configured secret that cannot be used. The message never quotes it. */
export class SecretError extends Error {
  override readonly name = "SecretError";
}

/**
 * Returns the trimmed secret, or `null` if none is configured. Throws {@link SecretError} if the file is missing or
 * unreadable, or if the content is empty or not printable ASCII.
 */
export function readSecret(sources: SecretSources): string | null {
  const { env, file, variable, setting, what = "the endpoint's key" } = sources;
  if (variable !== undefined && env[variable]) return checked(env[variable], variable, what);
  return file === undefined ? null : checked(readStart(file, setting), `${setting} (${file})`, what);
}

/**
 * Returns the address of the database of keys and usage, or `null` if none is configured. Throws {@link SecretError}.
 */
export function storeUrl({ store }: Pick<Settings, "store">, env: Environment): string | null {
  return store.kind === "libsql" ? null : urlOf(SHARED_STORE, store.urlFile, env);
}

/** Returns the address of the shared buckets, likewise. */
export function bucketsUrl({ buckets }: Pick<Settings, "buckets">, env: Environment): string | null {
  return buckets.kind === "memory" ? null : urlOf(SHARED_BUCKETS, buckets.urlFile, env);
}

/** Returns the auth tokens that Twilio may sign with; empty if none are configured. Throws {@link SecretError}. */
export function twilioAuthTokens(
  { twilio }: Partial<Pick<Settings, "twilio">>,
  env: Environment,
): readonly string[] {
  const [setting, variable] = ["twilio.authTokenFile", "ANTIPHON_TWILIO_AUTH_TOKEN"];
  const sources = { env, file: twilio?.authTokenFile, variable, setting, what: "Twilio's auth token" };
  const tokens = readSecret(sources)?.split(",") ?? [];
  // An empty token would let any client sign.
  if (tokens.includes(""))
    throw new SecretError(`${variable} or ${setting} has an empty token next to a comma: remove the comma`);
  return tokens;
}

/** Longer files are not secrets and are not read completely. */
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
