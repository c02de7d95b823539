import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../core/replace-file.ts";
import { decoderGraph } from "./decoder-graph.ts";
import {
  DESCRIPTION_FILE,
  FORMAT,
  specialTokens,
  type WhisperDescription,
  type WhisperSizes,
} from "./description.ts";
import { encoderGraph } from "./encoder-graph.ts";
import { encodeSilence } from "./networks.ts";
import { openPublishedModel, type PublishedWhisper } from "./published-model.ts";

/**
 * Converts a published Whisper model (see {@link openPublishedModel}) to `encoder.onnx`, `decoder.onnx`,
 * `silence.f32` and `recogniser.json`, written last as proof of completeness. Blocks the calling thread for some
 * seconds and cannot be cancelled.
 *
 * @param into created if missing
 * @throws WeightsError, or a file system error
 */
export async function convertWhisper(from: string, into: string): Promise<WhisperDescription> {
  const source = await openPublishedModel(from);
  try {
    await mkdir(into, { recursive: true });
    await rm(join(into, DESCRIPTION_FILE), { force: true });
    return await convert(source, into);
  } finally {
    await source.weights.close();
  }
}

async function convert(
  { weights, vocabulary, suppressed, suppressedFirst, alignmentHeads }: PublishedWhisper,
  into: string,
): Promise<WhisperDescription> {
  const { sizes } = weights;
  const special = specialTokens(vocabulary, sizes.vocabulary);
  const heads = alignmentHeads?.filter(([layer, head]) => isHead(layer, head, sizes)) ?? [];
  const used = heads.length > 0 ? heads : laterHeads(sizes);
  const encoder = (await encoderGraph(weights)).pieces();
  const encoderSum = await writeWhole(join(into, "encoder.onnx"), encoder);
  const decoder = (await decoderGraph(weights, used)).pieces();
  const decoderSum = await writeWhole(join(into, "decoder.onnx"), decoder);
  const silence = await encodeSilence(join(into, "encoder.onnx"), sizes);
  const silenceSum = await writeWhole(join(into, "silence.f32"), silence);
  const isText = (id: number): boolean => Number.isInteger(id) && id >= 0 && id <= special.end;
  const isMultilingual = Object.keys(special.languages).length > 0;
  const description: WhisperDescription = {
    format: FORMAT,
    name: `whisper-${NAMES[sizes.width] ?? sizes.width}${isMultilingual ? "" : ".en"}`,
    sizes,
    special,
    suppressed: suppressed.filter(isText),
    suppressedFirst: suppressedFirst.filter(isText),
    alignmentHeads: used.length,
    tokens: vocabulary.slice(0, special.end),
    sha256: { "encoder.onnx": encoderSum, "decoder.onnx": decoderSum, "silence.f32": silenceSum },
  };
  const bytes = new TextEncoder().encode(`${JSON.stringify(description)}\n`);
  await writeWhole(join(into, DESCRIPTION_FILE), [bytes]);
  return description;
}

function isHead(layer: number, head: number, { decoderLayers, heads }: WhisperSizes): boolean {
  return Number.isInteger(layer) && layer >= 0 && layer < decoderLayers && head >= 0 && head < heads;
}

/** Returns the heads of the upper half of the layers: the default of OpenAI's `whisper`. */
function laterHeads({ decoderLayers, heads }: WhisperSizes): (readonly [number, number])[] {
  const first = Math.floor(decoderLayers / 2);
  return Array.from({ length: (decoderLayers - first) * heads }, (_, at) => [
    first + Math.floor(at / heads),
    at % heads,
  ]);
}

const NAMES: Readonly<Record<number, string>> = {
  384: "tiny",
  512: "base",
  768: "small",
  1024: "medium",
  1280: "large",
};

/** Replaces a file atomically. @returns its SHA-256 */
async function writeWhole(path: string, pieces: readonly Uint8Array[]): Promise<string> {
  const sum = createHash("sha256");
  for (const piece of pieces) sum.update(piece);
  await replaceFile(path, pieces);
  return sum.digest("hex");
}
