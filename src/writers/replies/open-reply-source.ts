import { join } from "node:path";
import type { Dialogue } from "../../model/writer.ts";
import { openLlama } from "../llama/llama-runtime.ts";
import { SentenceEncoder } from "../llama/sentence-encoder.ts";
import { checkPackaged } from "../packaged-file.ts";
import { BookSource } from "./book-source.ts";
import { ALL_LAYERS, guesses, type Layers } from "./layers.ts";
import { ENCODER_FILE, REPLIES_DIR, readReplyBook, readReplyLines, repliesError } from "./reply-book.ts";
import type { ReplySource } from "./reply-source.ts";

/** Which of the replies are wanted: the most that any dialogue gets, and those that one gets. */
export interface WantedReplies {
  readonly most: Layers;
  layersFor(dialogue: Dialogue): Layers;
}

/**
 * Opens the replies that come with the package, as far as they are wanted: where no turn's kind is guessed the encoder
 * is not loaded, and llama.cpp is not asked for.
 *
 * @throws WriterError, naming the file and the remedy, when one is missing or damaged; LlamaMissingError.
 */
export async function openReplySource(
  { most, layersFor }: WantedReplies = { most: ALL_LAYERS, layersFor: () => ALL_LAYERS },
  dir: string = REPLIES_DIR,
): Promise<ReplySource> {
  if (!guesses(most)) {
    const unread = () => Promise.reject(new Error("no turn's kind was to be guessed"));
    return new BookSource(await readReplyLines(dir), unread, async () => {}, layersFor);
  }
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
    layersFor,
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
