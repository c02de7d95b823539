import { ServiceError } from "./errors.ts";

/** Reads a request body: UTF-8, then JSON. Throws a 422 {@link ServiceError} that quotes nothing of the body. */
export function parseJsonBody(body: Uint8Array): unknown {
  if (body.length === 0) throw new ServiceError(422, "the body is empty: send a JSON object");
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw new ServiceError(422, "the body is not valid UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ServiceError(422, `the body is not valid JSON: ${where(error)}`);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The parser's complaint without the piece of the body that it quotes: messages are logged, and bodies must not be. */
function where(error: unknown): string {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
  return position === undefined
    ? "it ends too early or has a stray character"
    : `look at position ${position}`;
}
