import type { Session } from "../../../onnx/session.ts";
import { float32, floatsOf, idRow, int64, type Tensor } from "../../../onnx/tensor.ts";
import { HEAD_WIDTH, type WhisperSizes } from "../sizes.ts";
import type { Encoded } from "./networks.ts";

/** The decoder over one encoded clip: it reads tokens and says what may follow. */
export class DecoderRun {
  readonly #decoder: Session;
  readonly #sizes: WhisperSizes;
  readonly #encoded: Encoded;
  readonly #positions: number;
  readonly #attention: Float32Array[] = [];
  #past: Record<string, Tensor>;

  /** @param positions those of the clip itself: attention to what follows it is left out */
  constructor(decoder: Session, sizes: WhisperSizes, encoded: Encoded, positions: number) {
    this.#decoder = decoder;
    this.#sizes = sizes;
    this.#encoded = encoded;
    this.#positions = positions;
    this.#past = Object.fromEntries(
      this.#names("past").map((name) => [
        name,
        float32(new Float32Array(0), [1, sizes.heads, 0, HEAD_WIDTH]),
      ]),
    );
  }

  /** Tokens read. */
  get length(): number {
    return this.#attention.length;
  }

  /** How much each token read attends to each position of the clip: for each, [alignment heads, positions]. */
  get attention(): readonly Float32Array[] {
    return this.#attention;
  }

  /** Reads tokens. @param wanted indices into them @returns for each of those, the logits of what follows it */
  async read(ids: readonly number[], wanted: readonly number[]): Promise<Float32Array[]> {
    const before = this.length;
    const outputs = await this.#decoder.run({
      ids: idRow(ids),
      places: int64(
        BigInt64Array.from(ids, (_, at) => BigInt(before + at)),
        [ids.length],
      ),
      mask: causalMask(ids.length, before),
      wanted: int64(BigInt64Array.from(wanted, BigInt), [wanted.length]),
      ...this.#past,
      ...this.#encoded,
    });
    this.#past = Object.fromEntries(
      this.#names("past").map((name) => [name, outputs[name.replace("past", "all")]!]),
    );
    this.#keepAttention(floatsOf(outputs, "attention"), ids.length);
    const logits = floatsOf(outputs, "logits");
    const { vocabulary } = this.#sizes;
    return wanted.map((_, at) => logits.subarray(at * vocabulary, (at + 1) * vocabulary));
  }

  /** Forgets all but the first tokens. */
  cut(length: number): void {
    const before = this.length;
    if (length >= before) return;
    this.#attention.length = length;
    const { heads } = this.#sizes;
    for (const name in this.#past) {
      const data = this.#past[name]!.data as Float32Array;
      const kept = new Float32Array(heads * length * HEAD_WIDTH);
      for (let head = 0; head < heads; head++) {
        const from = head * before * HEAD_WIDTH;
        kept.set(data.subarray(from, from + length * HEAD_WIDTH), head * length * HEAD_WIDTH);
      }
      this.#past[name] = float32(kept, [1, heads, length, HEAD_WIDTH]);
    }
  }

  #names(prefix: string): string[] {
    return Array.from({ length: this.#sizes.decoderLayers }, (_, layer) => [
      `${prefix}_keys.${layer}`,
      `${prefix}_values.${layer}`,
    ]).flat();
  }

  /** @param all [heads, tokens, all positions] */
  #keepAttention(all: Float32Array, tokens: number): void {
    const positions = this.#encoded.weights!.shape[0]!;
    const heads = all.length / tokens / positions;
    for (let token = 0; token < tokens; token++) {
      const own = new Float32Array(heads * this.#positions);
      for (let head = 0; head < heads; head++) {
        const from = (head * tokens + token) * positions;
        own.set(all.subarray(from, from + this.#positions), head * this.#positions);
      }
      this.#attention.push(own);
    }
  }
}

/** Each token may look at itself and at those before it. */
function causalMask(count: number, before: number): Tensor {
  const mask = new Float32Array(count * (before + count));
  for (let row = 0; row < count; row++) {
    mask.fill(-1e9, row * (before + count) + before + row + 1, (row + 1) * (before + count));
  }
  return float32(mask, [count, before + count]);
}
