import { BLOCK, blocksIn } from "./quantised-blocks.ts";
import type { Rows } from "./quantiser.ts";
import { BYTES, isFloat } from "./variable.ts";
import type { StoredVariable, Weights } from "./weights-folder.ts";

/** The rows of a matrix [rows, columns]. @throws WeightsError as {@link Weights.variable} does */
export function rowsOf(weights: Weights, name: string): Rows {
  const variable = weights.variable(name);
  const [rows, columns] = variable.shape as [number, number];
  const type = floatType(variable);
  const rowBytes = columns * BYTES[type];
  if (columns % BLOCK === 0) {
    const fill = (room: Uint8Array, from: number) => weights.readInto(room, name, from * rowBytes);
    return { name, type, rows, columns, fill };
  }
  return laidOut(weights, name, { rows, columns, first: 0, rowStep: columns, columnStep: 1 });
}

/** The rows of part `at` of [parts, columns, rows], turned. @throws WeightsError as {@link Weights.variable} does */
export function rowsOfPart(weights: Weights, name: string, at: number): Rows {
  const [, columns, rows] = weights.variable(name).shape as [number, number, number];
  return laidOut(weights, name, { rows, columns, first: at * rows * columns, rowStep: 1, columnStep: rows });
}

/** Where the numbers of a matrix are among others, counted in numbers. */
interface RowLayout {
  readonly rows: number;
  readonly columns: number;
  readonly first: number;
  readonly rowStep: number;
  readonly columnStep: number;
}

/** A matrix that is not stored as it has to be: it is read whole, and forgotten with its last rows. */
function laidOut(weights: Weights, name: string, place: RowLayout): Rows {
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
      layOut(wordsOf(room, BYTES[type]), numbers, place, from, count);
    },
  };
}

/** Rows that are laid out together: as many as there are numbers in a line of a processor's cache. */
const TOGETHER = 16;

function layOut(
  to: Uint32Array | Uint16Array,
  numbers: Uint32Array | Uint16Array,
  { columns, rowStep, columnStep }: RowLayout,
  from: number,
  count: number,
): void {
  const width = blocksIn(columns) * BLOCK;
  if (width > columns) to.fill(0);
  for (let first = 0; first < count; first += TOGETHER) {
    const end = Math.min(first + TOGETHER, count);
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
