import { join } from "node:path";
import { WriterError } from "../../core/writer.ts";
import { openLlama } from "../llama/llama-runtime.ts";
import { SentenceEncoder } from "../llama/sentence-encoder.ts";
import { checkPackaged } from "../packaged-file.ts";
import { ENCODER_FILE, REPLIES_DIR, readReplyBook, repliesError } from "./reply-book.ts";
import { SmallTalk } from "./small-talk.ts";

/**
 * Opens the small talk that comes with the package.
 *
 * @throws WriterError, with the remedy, if a file is missing or damaged or llama.cpp is not there
 */
export async function openSmallTalk(dir: string = REPLIES_DIR): Promise<SmallTalk> {
  const book = await readReplyBook(dir);
  const path = join(dir, ENCODER_FILE);
  await checkPackaged(path, book.encoder.sha256, (what, cause) => repliesError(ENCODER_FILE, what, cause));
  const runtime = await openLlama().catch((cause: Error) => {
    throw new WriterError(cause.message, { cause });
  });
  const encoder = await SentenceEncoder.open(runtime, path).catch((cause) => {
    throw repliesError(ENCODER_FILE, "cannot be loaded", cause);
  });
  return new SmallTalk(
    book,
    (text, signal) => unitVector(encoder, text, signal),
    () => encoder.close(),
  );
}

/** The direction of a text's meaning, of length 1. Of a long text, its end counts. */
export async function unitVector(
  encoder: SentenceEncoder,
  text: string,
  signal: AbortSignal,
): Promise<Float32Array> {
  const vector = await encoder.vectorOf(encoder.tokensOf(text).slice(-MAX_TOKENS), signal);
  const length = Math.hypot(...vector) || 1;
  return Float32Array.from(vector, (value) => value / length);
}

/** What the encoder reads at once. */
const MAX_TOKENS = 126;
