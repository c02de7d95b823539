import type { ToolCall } from "../../core/writer.ts";

/** The sentences of a reply and the calls among them, as they are written, until they are told. Places are code points. */
export class ReplyOrder {
  readonly #sentences: { readonly text: string; readonly from: number }[] = [];
  readonly #calls: { readonly call: ToolCall; readonly at: number }[] = [];
  #length = 0;

  /** Of all sentences that have come. */
  get length(): number {
    return this.#length;
  }

  /** Whether a call has come that was not told. */
  get hasCall(): boolean {
    return this.#calls.length > 0;
  }

  sentence(text: string): void {
    this.#sentences.push({ text, from: this.#length });
    this.#length += [...text].length;
  }

  /** @param at where the sentence begins that comes after it; that may come later */
  call(call: ToolCall, at: number): void {
    this.#calls.push({ call, at });
  }

  /** The sentences that begin no later than `until`, and the calls before them. */
  take(until: number): (string | ToolCall)[] {
    const told: (string | ToolCall)[] = [];
    while (this.#sentences[0] !== undefined && this.#sentences[0].from <= until) {
      const { text, from } = this.#sentences.shift()!;
      told.push(...this.#callsUpTo(from), text);
    }
    return told;
  }

  /** The calls that are left when all that is said was told. */
  takeCalls(): ToolCall[] {
    return this.#callsUpTo(Number.POSITIVE_INFINITY);
  }

  #callsUpTo(at: number): ToolCall[] {
    const count = this.#calls.findIndex((each) => each.at > at);
    return this.#calls.splice(0, count < 0 ? this.#calls.length : count).map(({ call }) => call);
  }
}
