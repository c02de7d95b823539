/** The part of the WebAssembly API in use; TypeScript types it only for browsers. */
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { initial: number; maximum: number });
    readonly buffer: ArrayBuffer;
  }
  interface Instance {
    readonly exports: Readonly<Record<string, (...numbers: number[]) => number>>;
  }
  function instantiate(
    code: Uint8Array<ArrayBuffer>,
    imports: Readonly<Record<string, Readonly<Record<string, Memory>>>>,
  ): Promise<{ readonly instance: Instance }>;
}
