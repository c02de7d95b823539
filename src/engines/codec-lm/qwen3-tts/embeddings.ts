import type { Session } from "../../../tensors/session.ts";
import { float32, floatsOf } from "../../../tensors/tensor.ts";
import type { Weights } from "../../../tensors/weights-folder.ts";
import type { Frame } from "../mimi/mimi.ts";
import type { Qwen3TtsConfig } from "./config.ts";
import { NAMES } from "./manifest.ts";
import type { Row } from "./prompt.ts";

/** The rows that stand for texts, codes and voices at the models' inputs, read from the weights as they are asked for. */
export class Embeddings {
  readonly #weights: Weights;
  readonly #text: Session;
  readonly #width: number;

  /** @param text runs the graph for text */
  constructor(weights: Weights, text: Session, { talker }: Qwen3TtsConfig) {
    this.#weights = weights;
    this.#text = text;
    this.#width = talker.width;
  }

  /** [tokens, width of the talker] */
  async ofText(tokens: readonly number[]): Promise<Float32Array> {
    if (tokens.length === 0) return new Float32Array(0);
    const rows = await Promise.all(tokens.map((token) => this.#weights.row(NAMES.text, token)));
    const width = rows[0]!.length;
    const x = new Float32Array(rows.length * width);
    for (const [at, row] of rows.entries()) x.set(row, at * width);
    return floatsOf(await this.#text.run({ x: float32(x, [rows.length, width]) }), "rows");
  }

  /** @param voice of the rows that ask for one @returns [rows, width of the talker] */
  async ofRows(rows: readonly Row[], voice: Float32Array | null): Promise<Float32Array> {
    const width = this.#width;
    const all = new Float32Array(rows.length * width);
    const texts = rows.flatMap(({ text }, at) => (text === null ? [] : [{ text, at }]));
    const ofTexts = await this.ofText(texts.map(({ text }) => text));
    for (const [from, { at }] of texts.entries()) {
      all.set(ofTexts.subarray(from * width, (from + 1) * width), at * width);
    }
    for (const [at, { codec }] of rows.entries()) {
      if (codec === null) continue;
      addTo(all.subarray(at * width, (at + 1) * width), await this.#ofCodec(codec, voice));
    }
    return all;
  }

  /** A row of the talker's: a code of the first codebook, or one that controls. */
  ofRow(row: number): Promise<Float32Array> {
    return this.#weights.row(NAMES.codec, row);
  }

  /** A code of a codebook after the first. */
  ofCode(codebook: number, code: number): Promise<Float32Array> {
    return this.#weights.row(NAMES.predictorCodec(codebook - 1), code);
  }

  /** The sum of a frame's codes, at the input of the talker. */
  async ofFrame([first, ...others]: Frame): Promise<Float32Array> {
    const rows = await Promise.all([
      this.ofRow(first!),
      ...others.map((code, at) => this.ofCode(at + 1, code)),
    ]);
    const sum = new Float32Array(this.#width);
    for (const row of rows) addTo(sum, row);
    return sum;
  }

  async #ofCodec(codec: number | "voice" | Frame, voice: Float32Array | null): Promise<Float32Array> {
    if (typeof codec === "number") return await this.ofRow(codec);
    if (codec !== "voice") return await this.ofFrame(codec);
    if (voice === null) throw new Error("The prompt has a voice that was not made.");
    return voice;
  }
}

export function addTo(sum: Float32Array, row: Float32Array): void {
  for (let at = 0; at < sum.length; at++) sum[at]! += row[at]!;
}
