import { PIECE_TOKENS } from "./generation.ts";
import type { GgufWriterOptions } from "./gguf-writer.ts";
import type { LlamaContextSequence, Token } from "./llama-runtime.ts";
import { maxThreads, openModel } from "./open-model.ts";
import { promptOf } from "./prompt.ts";
import { ThreadChoice } from "./thread-choice.ts";

/** How fast a model is on this machine while nobody is spoken to. */
interface ModelSpeed {
  readonly readTokensPerS: number;
  readonly writeTokensPerS: number;
}

/**
 * Reads a prompt of some 200 tokens and writes some 30, within about three seconds once the file is loaded: what is not
 * done by then is not done. The file's template is tried, too, so that what is measured can write.
 *
 * @throws WriterError when the model cannot be loaded; the signal's reason.
 */
export async function measureSpeed(options: GgufWriterOptions, signal: AbortSignal): Promise<ModelSpeed> {
  signal.throwIfAborted();
  const { runtime, model, context, close } = await openModel({ ...options, sequences: 1 });
  try {
    promptOf(options.template, model, runtime);
    const all = maxThreads(runtime, options);
    const threads = new ThreadChoice(runtime.llama, all, () => true);
    const sequence = context.getSequence();
    const tokens = model.tokenize(TEXT.repeat(12)).slice(0, READ_TOKENS + PIECE_TOKENS);
    // The first piece brings the file from the disk into memory, of which nothing is to be learnt.
    const first = tokens.splice(0, PIECE_TOKENS);
    const warming = new ThreadChoice(runtime.llama, all, () => false);
    await warming.during(first.length, () => sequence.evaluateWithoutGeneratingNewTokens(first));
    const work = { sequence, threads, signal };
    const readMs = await readingMs(tokens, work);
    const writtenMs = await writingMs(tokens[0]!, work);
    return { readTokensPerS: 1_000 / readMs, writeTokensPerS: 1_000 / writtenMs };
  } finally {
    await close();
  }
}

interface Work {
  readonly sequence: LlamaContextSequence;
  readonly threads: ThreadChoice;
  readonly signal: AbortSignal;
}

/** Milliseconds a token: of the usual piece, since the first ones find out on how many threads. */
async function readingMs(tokens: readonly Token[], { sequence, threads, signal }: Work): Promise<number> {
  const times: number[] = [];
  for (const end = performance.now() + READ_MS; tokens.length > 0; ) {
    const piece = tokens.slice(0, PIECE_TOKENS);
    tokens = tokens.slice(PIECE_TOKENS);
    const beganMs = performance.now();
    await threads.during(piece.length, () => sequence.evaluateWithoutGeneratingNewTokens([...piece]));
    times.push((performance.now() - beganMs) / piece.length);
    signal.throwIfAborted();
    if (performance.now() > end) break;
  }
  return median(times);
}

async function writingMs(first: Token, { sequence, threads, signal }: Work): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + WRITE_MS;
  const isEnough = () => times.length >= WRITTEN_TOKENS || (times.length > 0 && performance.now() > end);
  while (!isEnough()) {
    const generation = sequence.evaluate([first], { temperature: 0 });
    try {
      while (!isEnough()) {
        const beganMs = performance.now();
        const { done } = await threads.during(1, () => generation.next());
        signal.throwIfAborted();
        // A reply that has ended is begun again.
        times.push(performance.now() - beganMs);
        if (done === true) break;
      }
    } finally {
      await generation.return?.();
    }
  }
  return median(times);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1]!;
}

const TEXT =
  "Yesterday we walked along the river to the old mill, and the children found a boat that nobody seemed to own. ";
const READ_TOKENS = 200;
const WRITTEN_TOKENS = 30;
const READ_MS = 1_800;
const WRITE_MS = 1_200;
