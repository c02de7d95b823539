import { GraphFile } from "../../../onnx/graph-file.ts";
import type { Session } from "../../../onnx/session.ts";
import { float32, floatsOf } from "../../../onnx/tensor.ts";
import type { Tokenizer } from "../../../onnx/tokenizer.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import { CheckpointError, OptionError } from "../fields.ts";
import type { CodeFrame } from "../mimi/frame-decoder.ts";
import { WeightsInGraph } from "../networks/weights-in-graph.ts";
import type { Qwen3TtsConfig } from "./config.ts";
import { QWEN3_NAMES } from "./manifest.ts";

/**
 * Input of the talker at one position: the sum of a text token, and of a control row, voice vector or frame. `null`:
 * nothing.
 */
export interface PromptRow {
  readonly text: number | null;
  readonly codec: number | "voice" | CodeFrame | null;
}

export interface Qwen3Script {
  readonly text: string;
  /** A language of the checkpoint, or `auto`. */
  readonly language: string;
  /** A preset; `"voice"`: a vector of the speaker encoder; `null`: none. */
  readonly speaker: { readonly preset: string } | "voice" | null;
  readonly instruction: string | null;
  /** Earlier speech in the voice. */
  readonly reference: { readonly text: string; readonly frames: readonly CodeFrame[] } | null;
  /** Whether all text is read before the first frame; otherwise it is read along with the frames. */
  readonly isTextFirst: boolean;
}

export interface Prompt {
  readonly rows: readonly PromptRow[];
  /** Text tokens read with one frame each, followed by `textPad`. */
  readonly trailing: readonly number[];
}

/**
 * Builds the talker's input before the first frame, as the reference's `generate` and `generate_icl_prompt` do.
 *
 * @throws OptionError for an unknown language or preset; CheckpointError for an empty text
 */
export function buildPrompt(script: Qwen3Script, tokenizer: Tokenizer, config: Qwen3TtsConfig): Prompt {
  const { ids } = config;
  const { instruction, reference, isTextFirst } = script;
  const textOnly = (tokens: readonly number[]): PromptRow[] => tokens.map((text) => ({ text, codec: null }));
  const rows = [
    ...(instruction === null ? [] : textOnly(instructionIds(instruction, tokenizer, config))),
    ...textOnly([ids.imStart, ...tokenizer.encode("assistant\n")]),
    ...voiceRows(script, config),
  ];
  const text = textIds(script.text, tokenizer);
  if (text.length === 0)
    throw new CheckpointError("There is nothing to be spoken: the open turn's text is empty.");

  if (reference === null) {
    if (isTextFirst) {
      const textRows = [...text, ids.textEnd].map((token): PromptRow => ({ text: token, codec: ids.pad }));
      return { rows: [...rows, ...textRows, { text: ids.textPad, codec: ids.begin }], trailing: [] };
    }
    const [first, ...others] = text;
    return {
      rows: [...rows, { text: first!, codec: ids.begin }],
      trailing: [...others, ids.textEnd],
    };
  }

  const tokens = [...textIds(reference.text, tokenizer), ...text, ids.textEnd];
  const codecRows = [ids.begin, ...reference.frames];
  if (isTextFirst) {
    const read = tokens.map((token): PromptRow => ({ text: token, codec: ids.pad }));
    const audioRows = codecRows.map((codec): PromptRow => ({ text: ids.textPad, codec }));
    return { rows: [...rows, ...read, ...audioRows], trailing: [] };
  }
  const pairedRows = codecRows.map((codec, at): PromptRow => ({ text: tokens[at] ?? ids.textPad, codec }));
  return { rows: [...rows, ...pairedRows], trailing: tokens.slice(codecRows.length) };
}

/**
 * Encodes a text without the white space around it: a leading line break would merge with the token that ends the
 * role.
 */
function textIds(text: string, tokenizer: Tokenizer): number[] {
  return tokenizer.encode(text.trim());
}

function instructionIds(instruction: string, tokenizer: Tokenizer, { ids }: Qwen3TtsConfig): number[] {
  return [
    ids.imStart,
    ...tokenizer.encode("user\n"),
    ...textIds(instruction, tokenizer),
    ids.imEnd,
    ...tokenizer.encode("\n"),
  ];
}

function voiceRows({ language, speaker }: Qwen3Script, config: Qwen3TtsConfig): PromptRow[] {
  const { ids, languages, speakers, dialects } = config;
  const preset = speaker === null || speaker === "voice" ? null : speaker.preset.toLowerCase();
  const speakerRow = preset === null ? null : speakers.get(preset);
  if (speakerRow === undefined) {
    const known = speakers.size === 0 ? "none" : [...speakers.keys()].join(", ");
    throw new OptionError(`There is no speaker ${preset} in this checkpoint; it has ${known}.`);
  }
  const dialect = preset === null ? undefined : dialects.get(preset);
  const asked = language.toLowerCase();
  const isOpen = asked === "auto" || asked === "chinese";
  const spoken = isOpen && dialect !== undefined ? dialect : asked;
  const languageRow = languages.get(spoken);
  if (languageRow === undefined && spoken !== "auto") {
    throw new OptionError(
      `The language ${language} is not one of this checkpoint's: ${[...languages.keys()].join(", ")}, or auto.`,
    );
  }
  const thought =
    languageRow === undefined
      ? [ids.noThink, ids.thinkBegin, ids.thinkEnd]
      : [ids.think, ids.thinkBegin, languageRow, ids.thinkEnd];
  const voice: PromptRow["codec"] = speaker === "voice" ? speaker : speakerRow;
  return [
    ...[...thought, ...(voice === null ? [] : [voice])].map((codec) => ({ text: ids.textPad, codec })),
    { text: ids.textBegin, codec: ids.pad },
  ];
}

/** Writes the projection of text embeddings. In: `x` float32 [n, text width]. Out: `rows` float32 [n, width]. */
export function textProjectionGraph(weights: Weights, { talker, textWidth }: Qwen3TtsConfig): GraphFile {
  const graph = new GraphFile();
  const into = new WeightsInGraph(graph, weights);
  const x = graph.input("x", "float32", ["n", textWidth]);
  const wide = into.linear(x, QWEN3_NAMES.textFirst, textWidth, textWidth, true);
  const active = graph.add("Mul", [wide, graph.add("Sigmoid", [wide])]);
  graph.addNamed("rows", "Identity", [
    into.linear(active, QWEN3_NAMES.textSecond, textWidth, talker.width, true),
  ]);
  graph.output("rows", ["n", talker.width]);
  return graph;
}

/** Embeddings of texts, codes and voices, read from the weights on demand. */
export class Qwen3Embeddings {
  readonly #weights: Weights;
  readonly #text: Session;
  readonly #width: number;
  readonly #codebooks: number;

  constructor(weights: Weights, text: Session, { talker, codebooks }: Qwen3TtsConfig) {
    this.#weights = weights;
    this.#text = text;
    this.#width = talker.width;
    this.#codebooks = codebooks;
  }

  async preload(): Promise<void> {
    for (let codebook = 0; codebook < this.#codebooks; codebook++) {
      await this.#weights.preload(codecTable(codebook));
    }
  }

  /** Returns [tokens, width of the talker]. */
  async ofText(tokens: readonly number[]): Promise<Float32Array> {
    if (tokens.length === 0) return new Float32Array(0);
    const rows = tokens.map((token) => this.#weights.row(QWEN3_NAMES.text, token));
    const width = rows[0]!.length;
    const x = new Float32Array(rows.length * width);
    for (const [at, row] of rows.entries()) x.set(row, at * width);
    return floatsOf(await this.#text.run({ x: float32(x, [rows.length, width]) }), "rows");
  }

  /** @param voice vector for `"voice"` rows @returns [rows, width of the talker] */
  async ofRows(rows: readonly PromptRow[], voice: Float32Array | null): Promise<Float32Array> {
    const width = this.#width;
    const all = new Float32Array(rows.length * width);
    const texts = rows.flatMap(({ text }, at) => (text === null ? [] : [{ text, at }]));
    const ofTexts = await this.ofText(texts.map(({ text }) => text));
    for (const [from, { at }] of texts.entries()) {
      all.set(ofTexts.subarray(from * width, (from + 1) * width), at * width);
    }
    for (const [at, { codec }] of rows.entries()) {
      if (codec === null) continue;
      addRow(all.subarray(at * width, (at + 1) * width), this.#ofCodec(codec, voice));
    }
    return all;
  }

  /** Returns the row of a code, or of a control row for codebook 0. */
  ofCode(codebook: number, code: number): Float32Array {
    return this.#weights.row(codecTable(codebook), code);
  }

  ofFrame(frame: CodeFrame): Float32Array {
    const sum = new Float32Array(this.#width);
    for (const [codebook, code] of frame.entries()) addRow(sum, this.ofCode(codebook, code));
    return sum;
  }

  #ofCodec(codec: number | "voice" | CodeFrame, voice: Float32Array | null): Float32Array {
    if (typeof codec === "number") return this.ofCode(0, codec);
    if (codec !== "voice") return this.ofFrame(codec);
    if (voice === null) throw new Error("The prompt has a voice that was not made.");
    return voice;
  }
}

export function addRow(sum: Float32Array, row: Float32Array): void {
  for (let at = 0; at < sum.length; at++) sum[at]! += row[at]!;
}

function codecTable(codebook: number): string {
  return codebook === 0 ? QWEN3_NAMES.codec : QWEN3_NAMES.predictorCodec(codebook - 1);
}
