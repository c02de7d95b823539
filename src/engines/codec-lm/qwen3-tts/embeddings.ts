import { GraphFile } from "../../../onnx/graph-file.ts";
import type { Session } from "../../../onnx/session.ts";
import { float32, floatsOf } from "../../../onnx/tensor.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import type { CodeFrame } from "../networks/frame-decoder.ts";
import { WeightsInGraph } from "../networks/weights-in-graph.ts";
import type { Qwen3TtsConfig } from "./config.ts";
import { NAMES } from "./manifest.ts";
import type { Row } from "./prompt.ts";

/** What brings embeddings of text to the talker. In: `x` float32 [n, text width]. Out: `rows` float32 [n, width]. */
export function textGraph(weights: Weights, { talker, textWidth }: Qwen3TtsConfig): GraphFile {
  const graph = new GraphFile();
  const into = new WeightsInGraph(graph, weights);
  const x = graph.input("x", "float32", ["n", textWidth]);
  const wide = into.linear(x, NAMES.textFirst, textWidth, textWidth, true);
  const active = graph.add("Mul", [wide, graph.add("Sigmoid", [wide])]);
  graph.addNamed("rows", "Identity", [into.linear(active, NAMES.textSecond, textWidth, talker.width, true)]);
  graph.output("rows", ["n", talker.width]);
  return graph;
}

/** The rows that stand for texts, codes and voices at the models' inputs, read from the weights as they are asked for. */
export class Embeddings {
  readonly #weights: Weights;
  readonly #text: Session;
  readonly #width: number;
  readonly #codebooks: number;

  /** @param text runs the graph for text */
  constructor(weights: Weights, text: Session, { talker, codebooks }: Qwen3TtsConfig) {
    this.#weights = weights;
    this.#text = text;
    this.#width = talker.width;
    this.#codebooks = codebooks;
  }

  /** Has what is read for each frame at hand. */
  async preload(): Promise<void> {
    for (let codebook = 0; codebook < this.#codebooks; codebook++) {
      await this.#weights.preload(nameOf(codebook));
    }
  }

  /** [tokens, width of the talker] */
  async ofText(tokens: readonly number[]): Promise<Float32Array> {
    if (tokens.length === 0) return new Float32Array(0);
    const rows = tokens.map((token) => this.#weights.row(NAMES.text, token));
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
      addTo(all.subarray(at * width, (at + 1) * width), this.#ofCodec(codec, voice));
    }
    return all;
  }

  /** A code of a codebook, or of the first one a row that controls. */
  ofCode(codebook: number, code: number): Float32Array {
    return this.#weights.row(nameOf(codebook), code);
  }

  /** The sum of a frame's codes, at the input of the talker. */
  ofFrame(frame: CodeFrame): Float32Array {
    const sum = new Float32Array(this.#width);
    for (const [codebook, code] of frame.entries()) addTo(sum, this.ofCode(codebook, code));
    return sum;
  }

  #ofCodec(codec: number | "voice" | CodeFrame, voice: Float32Array | null): Float32Array {
    if (typeof codec === "number") return this.ofCode(0, codec);
    if (codec !== "voice") return this.ofFrame(codec);
    if (voice === null) throw new Error("The prompt has a voice that was not made.");
    return voice;
  }
}

export function addTo(sum: Float32Array, row: Float32Array): void {
  for (let at = 0; at < sum.length; at++) sum[at]! += row[at]!;
}

function nameOf(codebook: number): string {
  return codebook === 0 ? NAMES.codec : NAMES.predictorCodec(codebook - 1);
}
