import { join } from "node:path";
import { openLlama } from "../llama/llama-runtime.ts";
import { SentenceEncoder } from "../llama/sentence-encoder.ts";
import { checkPackaged } from "../packaged-file.ts";
import { BookSource } from "./book-source.ts";
import type { ReplySource } from "./ready-or-written.ts";
import { ENCODER_FILE, REPLIES_DIR, readReplyBook, repliesError } from "./reply-book.ts";

/**
 * Opens the replies that come with the package.
 *
 * @throws WriterError, naming the file and the remedy, when one is missing or damaged; LlamaMissingError.
 */
export async function openReplySource(dir: string = REPLIES_DIR): Promise<ReplySource> {
  const book = await readReplyBook(dir);
  const path = join(dir, ENCODER_FILE);
  await checkPackaged(path, book.encoder.sha256, (what, cause) => repliesError(ENCODER_FILE, what, cause));
  const runtime = await openLlama();
  const encoder = await SentenceEncoder.open(runtime, path).catch((cause) => {
    throw repliesError(ENCODER_FILE, "cannot be loaded", cause);
  });
  return new BookSource(
    book,
    (text, stop) => unitVector(encoder, text, stop),
    () => encoder.close(),
  );
}

/** The direction of a text's meaning, of length 1. Of a long text its end counts. */
export async function unitVector(
  encoder: SentenceEncoder,
  text: string,
  stop: AbortSignal,
): Promise<Float32Array> {
  const vector = await encoder.vectorOf(encoder.tokensOf(text).slice(-MAX_TOKENS), stop);
  const length = Math.hypot(...vector) || 1;
  return Float32Array.from(vector, (value) => value / length);
}

/** What the encoder reads at once. */
const MAX_TOKENS = 126;
