import { type ToolCall, type ToolUse, WriterError } from "../../core/writer.ts";
import { ToolCalls } from "../tool-calls.ts";
import type { CallTemplate } from "./call-template.ts";
import type { LlamaModel, Token } from "./llama-runtime.ts";

/** What may be called, and how long the calls of a reply may be. */
interface CallReaderOptions extends Pick<ToolUse, "tools" | "choice"> {
  /** Of all calls of a reply. */
  readonly maxTokens: number;
}

/**
 * Finds the calls among the tokens of a reply. After a call comes another, or nothing: a model that goes on makes up what
 * the function answers.
 */
export class CallReader {
  /** What stands of the reply already, where a call is demanded. */
  readonly begun: readonly Token[];
  readonly #model: LlamaModel;
  readonly #tags: Pick<CallTemplate, "begin" | "end">;
  readonly #maxTokens: number;
  readonly #calls: ToolCalls;
  /** The tokens of the call under way; `null` outside. */
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

  /** Whether there has been a call, or one is under way. */
  get hasBegun(): boolean {
    return this.#open !== null || this.#count > 0;
  }

  /** Whether a call may begin without its tag: only at the very beginning, where coders' models write one so. */
  get mayBeBare(): boolean {
    return !this.hasBegun && !this.#hasWords;
  }

  /** Whether the calls have all the tokens that they may have. */
  get isFull(): boolean {
    return this.#tokens >= this.#maxTokens;
  }

  /** Takes the next token; whether it is part of a call, or stands between two. */
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

  /** The calls that have come since. */
  take(): ToolCall[] {
    return this.#calls.take(false);
  }

  /** The same at the end of the reply: not every model closes its last call. One that is cut is none. */
  end(): ToolCall[] {
    if (this.#open !== null) this.#close();
    return this.take();
  }

  /** What is wrong with a reply whose calls cannot be carried out. */
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

/** What begins an object, an array of them, or a block of code around either. */
const BARE_CALL = /^\s*(\[?\{|```)/;

interface ReadCall {
  readonly name: string;
  readonly arguments: string;
}

/** What is no call has no name, and no function has none. */
const NO_CALL: ReadCall = { name: "", arguments: "" };

/**
 * A call of JSON. Its arguments stay as the model wrote them, to the digit: a number may have more than JavaScript's have.
 * Some models put the object into braces once more, as the examples of their templates are.
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
 * The objects in a text that may be JSON, from the first on, as they stand in it; what stands between them is nobody's.
 * One that does not end is none; but where an object is put into braces once more, the outer may be missing at its end.
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

/** Values of an object's members as they stand in its JSON, by name. Of those of one name it is the last, as elsewhere. */
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

/** Where the value ends that begins there; `null` where it does not. */
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

/** A bracket, a whole string, or anything else up to the next of these or the end of a value. */
const TOKEN = /[{}[\]]|"(?:[^"\\]|\\[\s\S])*"|[^{}[\]",:\s]+|[,:\s]+/y;
const GAP = /[\s,:]*/y;

function afterGap(text: string, at: number): number {
  GAP.lastIndex = at;
  GAP.exec(text);
  return GAP.lastIndex;
}
