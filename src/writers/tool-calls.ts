import { randomBytes } from "node:crypto";
import { type ToolCall, WriterError, type WriterTool } from "../core/writer.ts";
import { isJsonObject } from "./dialogue-messages.ts";

/** Converts a function to the format of OpenAI's interface and chat templates. */
export function functionOf({
  name,
  description,
  parameters = { type: "object", properties: {} },
}: WriterTool) {
  const described = description === undefined ? {} : { description };
  return {
    type: "function" as const,
    function: { name, ...described, parameters: parameters as Record<string, unknown> },
  };
}

/** A fragment of a call. */
export interface CallDelta {
  /** Index of the call in the reply; `null` if the endpoint omits it. */
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Limits per reply: calls, and characters of their arguments. */
export const MAX_CALLS = 32;
const MAX_ARGUMENTS_CHARS = 100_000;
const TOO_MUCH = `the writer called more than ${MAX_CALLS} functions, or with more than ${MAX_ARGUMENTS_CHARS} characters of arguments: retry`;
/** Accepted ids; others are replaced. */
const ID = /^[\w-]{1,64}$/;

/**
 * Assembles the calls of a reply from interleaved fragments. Passes on only calls of given functions with a JSON
 * object as arguments, or none for an empty one.
 */
export class ToolCalls {
  readonly #names: ReadonlySet<string>;
  #open: { index: number | null; id: string; name: string; arguments: string }[] = [];
  #count = 0;
  #chars = 0;
  #hasRefused = false;

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
  }

  get hasOpen(): boolean {
    return this.#open.length > 0;
  }

  /** Whether a call was dropped. */
  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  /** @throws WriterError when there are too many, or their arguments are too long. */
  add(piece: CallDelta): void {
    let call =
      piece.index === null ? this.#open.at(-1) : this.#open.find(({ index }) => index === piece.index);
    // Some endpoints omit the index: another id starts another call, and so does a name after arguments.
    const isOther = call !== undefined && call.id !== "" && piece.id !== "" && piece.id !== call.id;
    const isNext = call !== undefined && piece.index === null && piece.name !== "" && call.arguments !== "";
    if (call === undefined || isOther || isNext) {
      call = { index: piece.index, id: "", name: "", arguments: "" };
      if (isOther) for (const other of this.#open) if (other.index === piece.index) other.index = null;
      this.#open.push(call);
      this.#count += 1;
    }
    call.id ||= piece.id;
    // Some endpoints repeat the name in each fragment.
    if (call.name !== piece.name) call.name += piece.name;
    call.arguments += piece.arguments;
    this.#chars += piece.name.length + piece.arguments.length;
    if (this.#count > MAX_CALLS || this.#chars > MAX_ARGUMENTS_CHARS)
      throw new WriterError(TOO_MUCH, { retryAfterMs: 1_000 });
  }

  /**
   * Returns the calls completed since the last time.
   *
   * @param isCut whether the reply may have ended within the last one
   */
  take(isCut: boolean): ToolCall[] {
    const calls = this.#open.flatMap((call, n, { length }) => {
      const mayBeCut = isCut && n === length - 1;
      const text = call.arguments.trim() === "" && !mayBeCut ? "{}" : call.arguments;
      if (!this.#names.has(call.name) || !isJsonObject(text)) return [];
      const callId = ID.test(call.id) ? call.id : `call_${randomBytes(12).toString("hex")}`;
      return { callId, name: call.name, arguments: text };
    });
    this.#hasRefused ||= calls.length < this.#open.length;
    this.#open = [];
    return calls;
  }
}
