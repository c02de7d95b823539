import type { NewItem } from "../../contract/realtime/client-events.ts";
import type { SpokenReply } from "./output-audio.ts";
import { RealtimeError } from "./realtime-error.ts";

interface ItemBase {
  readonly id: string;
  status: "completed" | "incomplete" | "in_progress";
}

/** Something that was said or typed. */
export interface MessageItem extends ItemBase {
  readonly type: "message";
  readonly role: "user" | "assistant" | "system";
  /** `null` while the words of a user's speech are not known. */
  text: string | null;
  /** How it came: its events name the kinds of their content by it. */
  readonly medium: "audio" | "text";
  /** Of an assistant's speech: what of it was heard decides over `text`. */
  readonly spoken: SpokenReply | null;
}

export interface FunctionCallItem extends ItemBase {
  readonly type: "function_call";
  readonly callId: string;
  readonly name: string;
  arguments: string;
}

export interface FunctionOutputItem extends ItemBase {
  readonly type: "function_call_output";
  readonly callId: string;
  readonly output: string;
}

export type Item = MessageItem | FunctionCallItem | FunctionOutputItem;

/** Items that a conversation has at most; beyond, the oldest is forgotten. */
const MAX_ITEMS = 1_000;
/** Characters in all of them at most; beyond, the oldest is forgotten. */
const MAX_ITEM_CHARS = 1_000_000;

/** Where an item was put. */
export interface Added {
  /** The id of the item before it; `null` where it is the first. */
  readonly previous: string | null;
  /** Ids of the items that were forgotten for it. */
  readonly forgotten: readonly string[];
}

/** The items of a conversation, in their order. */
export class Items {
  readonly #all: Item[] = [];
  readonly #ids = new Set<string>();

  get all(): readonly Item[] {
    return this.#all;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** `null` where the conversation has none of that id, or another kind of item. */
  message(id: string): MessageItem | null {
    const item = this.#all.find((each) => each.id === id);
    return item?.type === "message" ? item : null;
  }

  /** @throws RealtimeError when the conversation has none of that id. */
  get(id: string, code: string): Item {
    const item = this.#all.find((each) => each.id === id);
    if (item === undefined)
      throw new RealtimeError(`the conversation has no item ${id}`, { code, param: "item_id" });
    return item;
  }

  /**
   * @param after the item that it follows; `root` puts it first, `null` last
   * @throws RealtimeError for an id that is there already, and where it cannot follow.
   */
  add(item: Item, after: string | null): Added {
    if (this.#ids.has(item.id)) {
      throw new RealtimeError(`the conversation has an item ${item.id} already`, {
        code: "item_create_duplicate_item_id",
        param: "item.id",
      });
    }
    let at = this.#all.length;
    if (after === "root") at = 0;
    else if (after !== null) {
      const before = this.#all.findIndex(({ id }) => id === after);
      if (before < 0) {
        throw new RealtimeError(`the conversation has no item ${after} to follow`, {
          code: "item_create_invalid_previous_item_id",
          param: "previous_item_id",
        });
      }
      at = before + 1;
    }
    this.#all.splice(at, 0, item);
    this.#ids.add(item.id);
    const forgotten = this.#forget(item);
    return { previous: this.#all[this.#all.indexOf(item) - 1]?.id ?? null, forgotten };
  }

  /** @throws RealtimeError when the conversation has none of that id. */
  delete(id: string): void {
    const item = this.get(id, "item_delete_invalid_item_id");
    this.#all.splice(this.#all.indexOf(item), 1);
    this.#ids.delete(id);
  }

  /** Makes room for what was added: whatever its place, it is not the oldest. */
  #forget(added: Item): readonly string[] {
    let chars = this.#all.reduce((sum, item) => sum + charsOf(item), 0);
    const forgotten: string[] = [];
    while (this.#all.length > 1 && (this.#all.length > MAX_ITEMS || chars > MAX_ITEM_CHARS)) {
      const [oldest] = this.#all.splice(this.#all[0] === added ? 1 : 0, 1);
      this.#ids.delete(oldest!.id);
      chars -= charsOf(oldest!);
      forgotten.push(oldest!.id);
    }
    return forgotten;
  }
}

function charsOf(item: Item): number {
  if (item.type === "message") return item.text?.length ?? 0;
  return item.type === "function_call" ? item.arguments.length : item.output.length;
}

/** An item of a client's, under an id of ours where it has none. */
export function itemOf(given: NewItem, newId: () => string): Item {
  const base = { id: given.id ?? newId(), status: "completed" as const };
  if (given.type === "function_call") {
    return {
      ...base,
      type: given.type,
      callId: given.call_id ?? base.id,
      name: given.name,
      arguments: given.arguments,
    };
  }
  if (given.type === "function_call_output") {
    return { ...base, type: given.type, callId: given.call_id, output: given.output };
  }
  const texts = given.content.map((part) => ("text" in part ? part.text : (part.transcript ?? "")));
  const isAudio = given.content.some(({ type }) => type.endsWith("audio"));
  return {
    ...base,
    type: "message",
    role: given.role,
    text: texts.filter((each) => each !== "").join(" "),
    medium: isAudio ? "audio" : "text",
    spoken: null,
  };
}

/** An item as events tell it. What the assistant was cut in says what of it was heard. */
export function wireItem(item: Item): Record<string, unknown> {
  const base = { id: item.id, object: "realtime.item", type: item.type, status: item.status };
  if (item.type === "function_call") {
    return { ...base, call_id: item.callId, name: item.name, arguments: item.arguments };
  }
  if (item.type === "function_call_output") return { ...base, call_id: item.callId, output: item.output };
  const { role, medium } = item;
  const text = textOf(item);
  // A user's sound always has the member `transcript`: agents-realtime throws without it.
  if (role === "user" && medium === "audio")
    return { ...base, role, content: [{ type: "input_audio", transcript: text }] };
  if (text === null || (text === "" && item.status === "in_progress")) return { ...base, role, content: [] };
  if (role !== "assistant") return { ...base, role, content: [{ type: "input_text", text }] };
  const part =
    medium === "audio" ? { type: "output_audio", transcript: text } : { type: "output_text", text };
  return { ...base, role, content: [part] };
}

/** What a message says, as far as it was heard; `null` while nobody knows. */
export function textOf(item: Item): string | null {
  return item.type === "message" ? (item.spoken?.heardText() ?? item.text) : null;
}
