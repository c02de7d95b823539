import type { IncomingMessage } from "node:http";
import { megabytes } from "./disk.ts";
import type { PartFile } from "./part-file.ts";
import { SourceError } from "./pull-error.ts";

/**
 * Makes the part ready for the body of an answer: it goes on where the part ends, or the part starts again where the
 * server sends everything. Nothing is trusted: the answer has to say which bytes it sends, and of how many.
 *
 * @throws SourceError when the body is not what was asked for.
 */
export async function prepareForBody(answer: IncomingMessage, part: PartFile): Promise<void> {
  switch (answer.statusCode) {
    case 200:
      requireSize(lengthOf(answer), part);
      return part.restart();
    case 206:
      return continueAt(rangeOf(answer), part);
    case 416:
      requireSize(rangeOf(answer).total, part);
      return startAgain("it has nothing to add to what is there", part);
    default:
      throw refusal(answer);
  }
}

interface Range {
  readonly start: number | null;
  readonly total: number | null;
}

async function continueAt({ start, total }: Range, part: PartFile): Promise<void> {
  requireSize(total, part);
  if (start !== part.doneBytes)
    await startAgain("it sends another stretch of the file than was asked for", part);
}

/** The next try will ask for everything, which every server can answer. */
async function startAgain(problem: string, part: PartFile): Promise<never> {
  const isPassing = part.doneBytes > 0;
  await part.restart();
  throw new SourceError(problem, { isPassing });
}

function requireSize(bytes: number | null, { totalBytes }: PartFile): void {
  if (bytes === null || bytes === totalBytes) return;
  throw new SourceError(`it has something else there, of ${shown(bytes)} instead of ${shown(totalBytes)}`);
}

function shown(bytes: number): string {
  return bytes < 1e6 ? `${bytes} bytes` : `${megabytes(bytes)} (${bytes} bytes)`;
}

function lengthOf({ headers }: IncomingMessage): number | null {
  const length = headers["content-length"];
  return length === undefined ? null : Number(length);
}

/** `bytes 100-199/1000`, `bytes 100-199/*`, `bytes *\/1000`. */
function rangeOf({ headers }: IncomingMessage): Range {
  const [, start, total] =
    /^bytes (?:(\d{1,15})-\d{1,15}|\*)\/(\d{1,15}|\*)$/.exec(headers["content-range"] ?? "") ?? [];
  return {
    start: start === undefined ? null : Number(start),
    total: total === undefined || total === "*" ? null : Number(total),
  };
}

/** An answer that has nothing of use; the remedy ends the sentence. */
export function refusal({ statusCode = 0, headers }: IncomingMessage, remedy = ""): SourceError {
  const isPassing = statusCode >= 500 || [408, 425, 429].includes(statusCode);
  const retryAfterMs = isPassing ? waitOf(headers["retry-after"]) : null;
  return new SourceError(`it answers with status ${statusCode}${remedy}`, {
    isPassing,
    status: statusCode,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}

/** `Retry-After`: seconds or a date (RFC 9110, 10.2.3). */
function waitOf(value: string | undefined): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - Date.now());
}
