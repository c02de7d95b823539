import { randomBytes } from "node:crypto";
import { type ToolCall, WriterError, type WriterTool } from "../core/writer.ts";
import { isJsonObject } from "./dialogue-messages.ts";

/** A function as OpenAI's interface and chat templates have it. */
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

/** Some of a call, as it comes: whatever of it is new. */
export interface CallDelta {
  /** Which of the reply's calls; `null` where an endpoint does not say. */
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Calls of one reply, and characters of their arguments, at most. */
export const MAX_CALLS = 32;
const MAX_ARGUMENTS_CHARS = 100_000;
const TOO_MUCH = `the writer called more than ${MAX_CALLS} functions, or with more than ${MAX_ARGUMENTS_CHARS} characters of arguments: retry`;
/** What clients and endpoints take as an id; any other is replaced. */
const ID = /^[\w-]{1,64}$/;

/**
 * Puts together the calls of a reply, which come in pieces and several at once. Only those are passed on that can be
 * carried out: of a function that was given, with a JSON object for arguments; none is an empty one.
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

  /** Whether there was a call that was not passed on. */
  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  /** @throws WriterError when there are too many, or their arguments are too long. */
  add(piece: CallDelta): void {
    let call =
      piece.index === null ? this.#open.at(-1) : this.#open.find(({ index }) => index === piece.index);
    // Not every endpoint counts them: another id is another call, and so is a name once the arguments have begun.
    const isOther = call !== undefined && call.id !== "" && piece.id !== "" && piece.id !== call.id;
    const isNext = call !== undefined && piece.index === null && piece.name !== "" && call.arguments !== "";
    if (call === undefined || isOther || isNext) {
      call = { index: piece.index, id: "", name: "", arguments: "" };
      if (isOther) for (const other of this.#open) if (other.index === piece.index) other.index = null;
      this.#open.push(call);
      this.#count += 1;
    }
    call.id ||= piece.id;
    // Some repeat the name with each piece.
    if (call.name !== piece.name) call.name += piece.name;
    call.arguments += piece.arguments;
    this.#chars += piece.name.length + piece.arguments.length;
    if (this.#count > MAX_CALLS || this.#chars > MAX_ARGUMENTS_CHARS)
      throw new WriterError(TOO_MUCH, { retryAfterMs: 1_000 });
  }

  /**
   * Those that have come since, whole.
   *
   * @param isCut whether the reply may have ended in the middle of the last one
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
