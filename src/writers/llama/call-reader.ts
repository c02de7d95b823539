import { type ToolCall, type ToolUse, WriterError } from "../../core/writer.ts";
import { ToolCalls } from "../tool-calls.ts";
import type { CallTemplate } from "./call-template.ts";
import type { LlamaModel, Token } from "./llama-runtime.ts";

interface CallReaderOptions extends Pick<ToolUse, "tools" | "choice"> {
  /** Limit for all calls of a reply. */
  readonly maxTokens: number;
}

/**
 * Finds calls in a reply's tokens. Text after a call ends the reply: the model would invent the function's output.
 */
export class CallReader {
  /** Start of the reply if a call is required. */
  readonly begun: readonly Token[];
  readonly #model: LlamaModel;
  readonly #tags: Pick<CallTemplate, "begin" | "end">;
  readonly #maxTokens: number;
  readonly #calls: ToolCalls;
  /** Tokens of the open call; `null` outside calls. */
  #open: Token[] | null = null;
  #count = 0;
  #tokens = 0;
  #hasWords = false;

  constructor(
    model: LlamaModel,
    tags: Pick<CallTemplate, "begin" | "end">,
    { tools, choice, maxTokens }: CallReaderOptions,
  ) {
    this.#model = model;
    this.#tags = tags;
    this.#maxTokens = maxTokens;
    this.#calls = new ToolCalls(tools.map(({ name }) => name));
    if (typeof choice === "object") this.#open = model.tokenize(`\n{"name": "${choice.name}", "arguments": `);
    else if (choice === "required") this.#open = model.tokenize('\n{"name": "');
    this.begun = this.#open === null ? [] : [tags.begin, ...this.#open];
  }

  /** Whether a call was made or is open. */
  get hasBegun(): boolean {
    return this.#open !== null || this.#count > 0;
  }

  /** Whether a call may begin without its tag: only at the start, where code models write it so. */
  get mayBeBare(): boolean {
    return !this.hasBegun && !this.#hasWords;
  }

  get isFull(): boolean {
    return this.#tokens >= this.#maxTokens;
  }

  /** Takes the next token; returns whether it belongs to a call or the gap between two. */
  push(token: Token): boolean {
    if (this.#open === null && token === this.#tags.begin) this.#open = [];
    else if (this.#open !== null && token === this.#tags.end) this.#close();
    else if (this.#open !== null) this.#open.push(token);
    else {
      const text = this.#model.detokenize([token]);
      const isBlank = text.trim() === "";
      if (this.mayBeBare && BARE_CALL.test(text)) this.#open = [token];
      else if (this.#count === 0 || !isBlank) {
        this.#hasWords ||= !isBlank;
        return false;
      }
    }
    this.#tokens += 1;
    return true;
  }

  /** Returns the calls completed since the last time. */
  take(): ToolCall[] {
    return this.#calls.take(false);
  }

  /** Completes the last call, which some models do not close; drops it if truncated. */
  end(): ToolCall[] {
    if (this.#open !== null) this.#close();
    return this.take();
  }

  /** Returns the error for a reply with only invalid calls. */
  failure(): WriterError {
    return this.isFull ? new WriterError(TOO_LONG) : new WriterError(BAD_CALL, { retryAfterMs: 1_000 });
  }

  #close(): void {
    const text = this.#model.detokenize(this.#open ?? []);
    this.#open = null;
    const objects = findObjects(text);
    const calls = objects.length === 0 ? [NO_CALL] : objects.map(readCall);
    for (const call of calls) this.#calls.add({ index: this.#count++, id: "", ...call });
  }
}

const TOO_LONG =
  "the writer's model spent all its tokens in the middle of a function's call: raise writer.contextTokens, or choose a larger model";
const BAD_CALL =
  "the writer's model called a function that it was not given, or with arguments that are no JSON object: retry, or choose a larger model";

/** Start of an object, an array of objects, or a code block around either. */
const BARE_CALL = /^\s*(\[?\{|```)/;

interface ReadCall {
  readonly name: string;
  readonly arguments: string;
}

/** Invalid calls have no name. */
const NO_CALL: ReadCall = { name: "", arguments: "" };

/**
 * Parses a call. Arguments stay verbatim, as numbers may exceed JavaScript's precision. Some models wrap the object
 * in extra braces, copying their template's example.
 */
function readCall(text: string): ReadCall {
  const json = isJson(text) ? text : text.slice(1, -1).trim();
  if (!isJson(json)) return NO_CALL;
  const members = readMembers(json);
  const name: unknown = JSON.parse(members.get("name") ?? "null");
  if (typeof name !== "string") return NO_CALL;
  const given = members.get("arguments") ?? "{}";
  return { name, arguments: given.startsWith('"') ? (JSON.parse(given) as string) : given };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Finds top-level JSON objects in text. A truncated object is dropped, but one within extra braces is found even if
 * the outer brace is missing.
 */
export function findObjects(text: string): string[] {
  const objects: string[] = [];
  for (let from = text.indexOf("{"); from >= 0; ) {
    let to = endOf(text, from);
    if (to === null) {
      const inner = afterGap(text, from + 1);
      if (text[inner] !== "{") break;
      from = inner;
      to = endOf(text, from);
      if (to === null) break;
    }
    objects.push(text.slice(from, to));
    from = text.indexOf("{", to);
  }
  return objects;
}

/** Returns the raw JSON of an object's members; the last of duplicate names. */
export function readMembers(json: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let at = afterGap(json, 1);
  while (json[at] === '"') {
    const nameEnd = endOf(json, at) ?? json.length;
    const from = afterGap(json, nameEnd);
    const to = endOf(json, from) ?? json.length;
    members.set(JSON.parse(json.slice(at, nameEnd)) as string, json.slice(from, to));
    at = afterGap(json, to);
  }
  return members;
}

/** Returns the end of the value at `from`; `null` if it is truncated. */
function endOf(text: string, from: number): number | null {
  let depth = 0;
  TOKEN.lastIndex = from;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [token] = match;
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    if (depth <= 0) return TOKEN.lastIndex;
  }
  return null;
}

/** A bracket, a string, or a run of other characters. */
const TOKEN = /[{}[\]]|"(?:[^"\\]|\\[\s\S])*"|[^{}[\]",:\s]+|[,:\s]+/y;
const GAP = /[\s,:]*/y;

function afterGap(text: string, at: number): number {
  GAP.lastIndex = at;
  GAP.exec(text);
  return GAP.lastIndex;
}
