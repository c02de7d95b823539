/** Gives memory back at once, and not when its thread collects garbage, which may be long. Its views are empty then. */
export function freeMemory(buffer: ArrayBuffer): void {
  structuredClone(null, { transfer: [buffer] });
}
