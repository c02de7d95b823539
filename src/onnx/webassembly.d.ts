/** As much of the WebAssembly JavaScript API as is used here: TypeScript ships its types only with the browser's. */
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
