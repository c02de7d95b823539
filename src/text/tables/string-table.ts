/**
 * A read-only set of strings with indices, in three typed arrays: invisible to the garbage collector, and shared
 * between threads if the memory is.
 */
export interface StringTable {
  /** Open addressing: index + 1 of a string, or 0 if free. The length is a power of two. */
  readonly slots: Uint32Array;
  /** String i is `units[offsets[i] … offsets[i + 1])`. */
  readonly offsets: Uint32Array;
  readonly units: Uint16Array;
}

/** Returns the index of a string in the list that the table was built from, or -1. */
export function indexOf(table: StringTable, text: string): number {
  const { slots, offsets, units } = table;
  const mask = slots.length - 1;
  for (let at = hash(text) & mask; ; at = (at + 1) & mask) {
    const index = slots[at]! - 1;
    if (index < 0) return -1;
    const start = offsets[index]!;
    if (offsets[index + 1]! - start === text.length && equal(units, start, text)) return index;
  }
}

export function stringAt(table: Pick<StringTable, "offsets" | "units">, index: number): string {
  const end = table.offsets[index + 1]!;
  let text = "";
  for (let at = table.offsets[index]!; at < end; at++) text += String.fromCharCode(table.units[at]!);
  return text;
}

export function buildStringTable(strings: readonly string[]): StringTable {
  const { offsets, units } = joinStrings(strings);
  let size = 4;
  while (size < strings.length * 2) size *= 2;
  const slots = new Uint32Array(size);
  for (const [index, text] of strings.entries()) {
    let at = hash(text) & (size - 1);
    while (slots[at] !== 0) at = (at + 1) & (size - 1);
    slots[at] = index + 1;
  }
  return { slots, offsets, units };
}

/** Concatenates strings, to be read by {@link stringAt}. */
export function joinStrings(strings: readonly string[]): Pick<StringTable, "offsets" | "units"> {
  const offsets = new Uint32Array(strings.length + 1);
  for (const [index, text] of strings.entries()) offsets[index + 1] = offsets[index]! + text.length;
  const units = new Uint16Array(offsets[strings.length]!);
  for (const [index, text] of strings.entries()) {
    for (let i = 0; i < text.length; i++) units[offsets[index]! + i] = text.charCodeAt(i);
  }
  return { offsets, units };
}

function equal(units: Uint16Array, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (units[start + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** FNV-1a (Fowler, Noll and Vo) over code units. A final mix improves the low bits, which select the slot. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}
