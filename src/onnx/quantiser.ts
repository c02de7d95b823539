import { WeightsError } from "./byte-source.ts";
import { type Bits, BLOCK, blockBytes, blocksIn } from "./quantised-blocks.ts";
import { createQuantisingKernel, NOT_FINITE, type QuantisingKernel } from "./quantising-kernel.ts";
import { BYTES, type FloatType } from "./variable.ts";

/** The rows of a matrix, wherever they are. */
export interface Rows {
  /** What errors call the matrix. */
  readonly name: string;
  readonly type: FloatType;
  readonly rows: number;
  readonly columns: number;
  /**
   * Puts `count` rows into place, as they are stored, each filled up with zeros to whole blocks.
   *
   * @param room of exactly that size
   */
  fill(room: Uint8Array, from: number, count: number): Promise<void>;
}

/** Blocks that are quantised at once: a million numbers. */
const SLAB = 2 ** 15;

/** Quantises matrices a few megabytes at a time, and has the next ones fetched meanwhile. One matrix after the other. */
export class Quantiser {
  readonly #kernel: QuantisingKernel;

  private constructor(kernel: QuantisingKernel) {
    this.#kernel = kernel;
  }

  static async create(): Promise<Quantiser> {
    return new Quantiser(await createQuantisingKernel(MEMORY));
  }

  /**
   * The numbers of a matrix, [rows, blocks, bytes of a block], in pieces; behind them its scales, float32 [rows · blocks],
   * in one. A piece is overwritten by the next.
   *
   * @throws WeightsError naming a matrix with a number that is infinite or none; what `fill` throws; the signal's reason
   */
  async *quantised(matrix: Rows, bits: Bits, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const perRow = blocksIn(matrix.columns);
    const rowsAtOnce = Math.floor(SLAB / perRow);
    if (rowsAtOnce === 0)
      throw new WeightsError(`${matrix.name} has rows of more than ${SLAB * BLOCK} numbers.`);
    const fetch = (from: number): Promise<number> => {
      const fetched = this.#fetch(matrix, from, rowsAtOnce);
      // It is awaited later: until then its failure is nobody's.
      fetched.catch(() => {});
      return fetched;
    };
    const scales = new Uint8Array(matrix.rows * perRow * SCALE_BYTES);
    let next = fetch(0);
    try {
      for (let from = 0; from < matrix.rows; from += rowsAtOnce) {
        const address = await next;
        signal.throwIfAborted();
        const count = Math.min(rowsAtOnce, matrix.rows - from) * perRow;
        if (from + rowsAtOnce < matrix.rows) next = fetch(from + rowsAtOnce);
        this.#run(matrix, bits, address, count);
        scales.set(this.#view(SCALES, count * SCALE_BYTES), from * perRow * SCALE_BYTES);
        yield this.#view(DATA, count * blockBytes(bits));
      }
    } finally {
      // What is being fetched goes into memory that the next matrix will use.
      await next.catch(() => {});
    }
    yield scales;
  }

  /** @returns where the rows are */
  async #fetch({ type, rows, columns, fill }: Rows, from: number, atOnce: number): Promise<number> {
    const count = Math.min(atOnce, rows - from);
    const address = NUMBERS[(from / atOnce) % 2]!;
    await fill(this.#view(address, count * blocksIn(columns) * BLOCK * BYTES[type]), from, count);
    return address;
  }

  #run({ name, type }: Rows, bits: Bits, address: number, blocks: number): void {
    const largest = this.#kernel.of(type, bits)(address, blocks, DATA, SCALES);
    if (largest >= NOT_FINITE[type]) {
      throw new WeightsError(
        `${name} has numbers that are infinite or none: the file is damaged; fetch it again.`,
      );
    }
  }

  #view(address: number, length: number): Uint8Array {
    return new Uint8Array(this.#kernel.memory, address, length);
  }
}

const SCALE_BYTES = 4;
const SLAB_BYTES = SLAB * BLOCK * BYTES.float32;
/** Two slabs, in turns. */
const NUMBERS = [0, SLAB_BYTES] as const;
const DATA = 2 * SLAB_BYTES;
const SCALES = DATA + SLAB * BLOCK;
const MEMORY = SCALES + SLAB * SCALE_BYTES;
