import { closeSync, openSync, readSync } from "node:fs";

/** Where an endpoint's key may come from. */
export interface ApiKeySources {
  /** The process's environment; the variable of that name there wins. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A file that holds the key and nothing else, or none. */
  readonly file?: string | undefined;
  /** The variable in the environment, as in `ANTIPHON_WRITER_API_KEY`. */
  readonly variable: string;
  /** The setting that names the file, as in `writer.apiKeyFile`; messages name it, too. */
  readonly setting: string;
  /** What is to be found there, for messages: the endpoint's key unless given. */
  readonly what?: string;
}

/** A key that was named but cannot be used. The message never quotes it. */
export class ApiKeyError extends Error {
  override readonly name = "ApiKeyError";
}

/**
 * The key of an endpoint, without the spaces around it; `null` where none is set, as with a server of one's own.
 * Throws {@link ApiKeyError} when the file is missing or unreadable, or the key is empty or cannot stand in a header.
 */
export function readApiKey(sources: ApiKeySources): string | null {
  const { env, file, variable, setting, what = "the endpoint's key" } = sources;
  const given = env[variable];
  if (given !== undefined && given !== "") return checked(given, variable, what);
  return file === undefined ? null : checked(readStart(file, setting), `${setting} (${file})`, what);
}

/** No key is longer. A larger file is something else, and is not read whole. */
const LONGEST_KEY = 4096;

function checked(value: string, where: string, what: string): string {
  const key = value.trim();
  if (key === "") throw new ApiKeyError(`${where} is empty: put ${what} there, or leave it out`);
  if (key.length > LONGEST_KEY)
    throw new ApiKeyError(`${where} holds more than ${LONGEST_KEY} characters: it should be ${what} alone`);
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new ApiKeyError(
      `${where} holds a line break, a space or another character that it cannot have: it should be ${what} alone`,
    );
  return key;
}

function readStart(file: string, setting: string): string {
  try {
    const descriptor = openSync(file, "r");
    try {
      const bytes = Buffer.alloc(LONGEST_KEY + 64);
      return bytes.toString("utf8", 0, readSync(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
    throw new ApiKeyError(
      code === "ENOENT"
        ? `${setting} (${file}) does not exist`
        : `${setting} (${file}) cannot be read: ${code}`,
      { cause },
    );
  }
}
