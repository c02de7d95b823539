import { WeightsError } from "./byte-source.ts";
import {
  type Bits,
  BLOCK,
  blockBytes,
  blocksIn,
  createQuantisingKernel,
  NOT_FINITE,
  type QuantisingKernel,
} from "./quantising-kernel.ts";
import { BYTES, type FloatType, isFloat } from "./variable.ts";
import type { StoredVariable, Weights } from "./weights-folder.ts";

/** Rows of a matrix, from any source. */
export interface MatrixRows {
  readonly name: string;
  readonly type: FloatType;
  readonly rows: number;
  readonly columns: number;
  /**
   * Writes `count` rows in their stored type, each zero-padded to whole blocks.
   *
   * @param room of exactly that size
   */
  fill(room: Uint8Array, from: number, count: number): Promise<void>;
}

/** Blocks quantised per batch: 2^20 numbers. */
const BATCH_BLOCKS = 2 ** 15;

/** Quantises one matrix at a time, a few megabytes per batch, and reads the next batch meanwhile. */
export class Quantiser {
  readonly #kernel: QuantisingKernel;

  private constructor(kernel: QuantisingKernel) {
    this.#kernel = kernel;
  }

  static async create(): Promise<Quantiser> {
    return new Quantiser(await createQuantisingKernel(MEMORY));
  }

  /**
   * Yields the codes of a matrix, [rows, blocks, bytes of a block], in chunks, then its scales, float32 [rows ·
   * blocks], as one. Each chunk is overwritten by the next.
   *
   * @throws WeightsError naming a matrix with an infinite number or NaN; what `fill` throws; the signal's reason
   */
  async *quantised(matrix: MatrixRows, bits: Bits, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const perRow = blocksIn(matrix.columns);
    const rowsAtOnce = Math.floor(BATCH_BLOCKS / perRow);
    if (rowsAtOnce === 0)
      throw new WeightsError(`${matrix.name} has rows of more than ${BATCH_BLOCKS * BLOCK} numbers.`);
    const fetch = (from: number): Promise<number> => {
      const fetched = this.#fetch(matrix, from, rowsAtOnce);
      // Awaited later: avoids an unhandled rejection until then.
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
      // Waits for a pending read: the next matrix uses the same memory.
      await next.catch(() => {});
    }
    yield scales;
  }

  /** @returns the address of the rows */
  async #fetch({ type, rows, columns, fill }: MatrixRows, from: number, atOnce: number): Promise<number> {
    const count = Math.min(atOnce, rows - from);
    const address = NUMBERS[(from / atOnce) % 2]!;
    await fill(this.#view(address, count * blocksIn(columns) * BLOCK * BYTES[type]), from, count);
    return address;
  }

  #run({ name, type }: MatrixRows, bits: Bits, address: number, blocks: number): void {
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
const BATCH_BYTES = BATCH_BLOCKS * BLOCK * BYTES.float32;
/** Two buffers that alternate. */
const NUMBERS = [0, BATCH_BYTES] as const;
const DATA = 2 * BATCH_BYTES;
const SCALES = DATA + BATCH_BLOCKS * BLOCK;
const MEMORY = SCALES + BATCH_BLOCKS * SCALE_BYTES;

/** Reads rows of a matrix [rows, columns]. @throws WeightsError as {@link Weights.variable} does */
export function rowsOf(weights: Weights, name: string): MatrixRows {
  const variable = weights.variable(name);
  const [rows, columns] = variable.shape as [number, number];
  const type = floatType(variable);
  const rowBytes = columns * BYTES[type];
  if (columns % BLOCK === 0) {
    const fill = (room: Uint8Array, from: number) => weights.readInto(room, name, from * rowBytes);
    return { name, type, rows, columns, fill };
  }
  return stridedRows(weights, name, { rows, columns, first: 0, rowStep: columns, columnStep: 1 });
}

/**
 * Reads rows of part `at` of [parts, columns, rows], transposed. @throws WeightsError as {@link Weights.variable}
 * does
 */
export function rowsOfPart(weights: Weights, name: string, at: number): MatrixRows {
  const [, columns, rows] = weights.variable(name).shape as [number, number, number];
  return stridedRows(weights, name, {
    rows,
    columns,
    first: at * rows * columns,
    rowStep: 1,
    columnStep: rows,
  });
}

/** Position of a matrix within a variable, in numbers. */
interface RowLayout {
  readonly rows: number;
  readonly columns: number;
  readonly first: number;
  readonly rowStep: number;
  readonly columnStep: number;
}

/** Rows that need rearranging: reads the matrix whole and frees it after its last rows. */
function stridedRows(weights: Weights, name: string, place: RowLayout): MatrixRows {
  const { rows, columns } = place;
  const type = floatType(weights.variable(name));
  let whole: Promise<Uint8Array> | null = null;
  const read = async (): Promise<Uint8Array> => {
    const bytes = new Uint8Array(rows * columns * BYTES[type]);
    await weights.readInto(bytes, name, place.first * BYTES[type]);
    return bytes;
  };
  return {
    name,
    type,
    rows,
    columns,
    async fill(room, from, count) {
      whole ??= read();
      const numbers = wordsOf(await whole, BYTES[type]);
      if (from + count === rows) whole = null;
      copyStrided(wordsOf(room, BYTES[type]), numbers, place, from, count);
    },
  };
}

/** Rows copied together: as many as numbers in a cache line. */
const CACHE_LINE_NUMBERS = 16;

function copyStrided(
  to: Uint32Array | Uint16Array,
  numbers: Uint32Array | Uint16Array,
  { columns, rowStep, columnStep }: RowLayout,
  from: number,
  count: number,
): void {
  const width = blocksIn(columns) * BLOCK;
  if (width > columns) to.fill(0);
  for (let first = 0; first < count; first += CACHE_LINE_NUMBERS) {
    const end = Math.min(first + CACHE_LINE_NUMBERS, count);
    for (let column = 0; column < columns; column++) {
      const offset = from * rowStep + column * columnStep;
      for (let row = first; row < end; row++) to[row * width + column] = numbers[offset + row * rowStep]!;
    }
  }
}

function wordsOf({ buffer, byteOffset, byteLength }: Uint8Array, bytes: number): Uint32Array | Uint16Array {
  return bytes === 4
    ? new Uint32Array(buffer, byteOffset, byteLength / 4)
    : new Uint16Array(buffer, byteOffset, byteLength / 2);
}

function floatType({ type }: StoredVariable) {
  if (!isFloat(type)) throw new Error("Weights.variable gives floating-point numbers alone.");
  return type;
}
