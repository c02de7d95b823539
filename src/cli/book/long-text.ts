import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { extname } from "node:path";
import { Readable } from "node:stream";
import { UsageError } from "../../server/errors.ts";
import { frontMatterOf } from "../../text/sentences/markdown-lines.ts";
import type { TextFormat } from "../../text/sentences/passages.ts";
import { looksLikeSsml } from "../../text/ssml/parse-markup.ts";

/** Text to be spoken, read as far as needed. */
export interface LongText {
  /** Whole text if it is short enough, else null. */
  readonly whole: string | null;
  /** Whole text from the beginning; single-use. */
  readonly chunks: AsyncIterable<string>;
  /** Reads the text again; null for a pipe. */
  readonly again: (() => AsyncIterable<string>) | null;
  /** UTF-16 units, approximately; null for a pipe. */
  readonly totalChars: number | null;
  readonly format: TextFormat;
  /** Whether it begins as SSML does. */
  readonly isSsml: boolean;
  /** From Markdown's front matter; else empty. */
  readonly title: string;
  readonly author: string;
}

/** Documents that are not text, by their first bytes. */
const DOCUMENTS = [
  ["PK\u0003\u0004", "an EPUB, a DOCX or another ZIP file"],
  ["%PDF-", "a PDF"],
] as const;

/** Reads a whole text. @throws UsageError if it is too long */
export async function wholeText(
  chunks: AsyncIterable<string>,
  maxChars: number,
  what: string,
): Promise<string> {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    if (text.length > maxChars)
      throw new UsageError(`${what} may have at most ${maxChars} characters: divide it into several texts.`);
  }
  return text;
}

/**
 * Opens the text of a command: its argument, a file or standard input.
 *
 * @param maxWhole UTF-16 units up to which the text is read at once
 * @throws UsageError if the file cannot be read
 */
export async function openText(
  argument: string | undefined,
  file: string | undefined,
  stdin: AsyncIterable<Uint8Array | string>,
  maxWhole: number,
): Promise<LongText> {
  const format = /^\.(?:md|markdown|mkd)$/i.test(extname(file ?? "")) ? "markdown" : "plain";
  if (file !== undefined) {
    if (argument !== undefined) throw new UsageError("Give the text, or --file, but not both.");
    const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
    if (found instanceof Error)
      throw new UsageError(`The file ${file} cannot be read (${found.code}): name another.`);
    if (found.isDirectory()) throw new UsageError(`${file} is a folder: name a file with --file.`);
    const read = () => decodeText(createReadStream(file), file);
    // A named pipe can be read only once.
    return readBeginning(
      read(),
      found.isFile() ? read : null,
      found.isFile() ? found.size : null,
      format,
      maxWhole,
    );
  }
  if (argument === undefined)
    throw new UsageError("Give a text to speak, a file with --file, or - for standard input.");
  if (argument === "-")
    return readBeginning(decodeText(stdin, "standard input"), null, null, format, maxWhole);
  const read = () => Readable.from([argument]);
  return readBeginning(read(), read, argument.length, format, maxWhole);
}

async function readBeginning(
  chunks: AsyncIterable<string>,
  again: LongText["again"],
  totalChars: number | null,
  format: TextFormat,
  maxWhole: number,
): Promise<LongText> {
  const iterator = chunks[Symbol.asyncIterator]();
  let read = "";
  let isEnded = false;
  while (read.length <= maxWhole && !isEnded) {
    const { value, done } = await iterator.next();
    if (done === true) isEnded = true;
    else read += value;
  }
  const isSsml = looksLikeSsml(read);
  const isWhole = isEnded && read.length <= maxWhole;
  return {
    whole: isWhole ? read : null,
    chunks: (async function* () {
      yield read;
      read = "";
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
        yield next.value;
    })(),
    again,
    totalChars: isWhole ? read.length : totalChars,
    format,
    isSsml,
    ...(format === "markdown" ? frontMatterOf(read) : { title: "", author: "" }),
  };
}

/** Decodes UTF-8 without a byte order mark. @throws UsageError if it is not UTF-8 */
async function* decodeText(
  chunks: AsyncIterable<Uint8Array | string>,
  name: string,
): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let head = "";
  try {
    for await (const chunk of chunks) {
      if (typeof chunk !== "string" && head === "")
        head = Buffer.from(chunk.subarray(0, 5)).toString("latin1");
      yield typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const document = DOCUMENTS.find(([begins]) => head.startsWith(begins))?.[1];
    throw new UsageError(
      document === undefined
        ? `The text of ${name} is not UTF-8: convert it first, as with iconv -t UTF-8.`
        : `${name} looks like ${document}, which is not read: convert it to text or Markdown first, as with ${document.startsWith("a PDF") ? "pdftotext" : "pandoc -t gfm"}.`,
    );
  }
}
