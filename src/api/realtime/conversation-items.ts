import type { ClientEvent, NewItem } from "../../contract/realtime/client-events.ts";
import type { OutputAudio } from "./output-audio.ts";
import type { SendEvent } from "./realtime-dialect.ts";
import { RealtimeError } from "./realtime-error.ts";

interface ItemBase {
  readonly id: string;
  status: "completed" | "incomplete" | "in_progress";
}

export interface MessageItem extends ItemBase {
  readonly type: "message";
  readonly role: "user" | "assistant" | "system";
  /** `null` until a user's speech is transcribed. */
  text: string | null;
  /** Determines the content types in events. */
  readonly medium: "audio" | "text";
  /** Audio of an assistant's message. Its {@link OutputAudio.playedText} has precedence over `text`. */
  readonly outputAudio: OutputAudio | null;
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

export type ConversationItem = MessageItem | FunctionCallItem | FunctionOutputItem;

/** Maximum items. Beyond it, the oldest is deleted. */
const MAX_ITEMS = 1_000;
/** Maximum characters of all items. Beyond it, the oldest is deleted. */
const MAX_ITEM_CHARS = 1_000_000;

type ClientEventOf<T extends ClientEvent["type"]> = Extract<ClientEvent, { type: T }>;

/** The items of a conversation in order, and the `conversation.item.*` events. */
export class ConversationItems {
  readonly #all: ConversationItem[] = [];
  readonly #ids = new Set<string>();
  readonly #newId: (prefix: string) => string;
  readonly #send: SendEvent;

  constructor(newId: (prefix: string) => string, send: SendEvent) {
    this.#newId = newId;
    this.#send = send;
  }

  get all(): readonly ConversationItem[] {
    return this.#all;
  }

  message(id: string): MessageItem | null {
    const item = this.#all.find((each) => each.id === id);
    return item?.type === "message" ? item : null;
  }

  create({ item: given, previous_item_id: after = null }: ClientEventOf<"conversation.item.create">): void {
    const item = createItem(given, () => this.#newId("item_"));
    this.sendAdded(item, this.#insert(item, after));
  }

  retrieve(id: string): void {
    const item = itemPayload(this.#get(id, "item_retrieve_invalid_item_id"));
    this.#send("conversation.item.retrieved", { item });
  }

  delete(id: string): void {
    const item = this.#get(id, "item_delete_invalid_item_id");
    this.#all.splice(this.#all.indexOf(item), 1);
    this.#ids.delete(id);
    this.#send("conversation.item.deleted", { item_id: id });
  }

  truncate({ item_id, content_index, audio_end_ms }: ClientEventOf<"conversation.item.truncate">): void {
    const code = "item_truncate_invalid_item_id";
    const item = this.#get(item_id, code);
    if (item.type !== "message" || item.outputAudio === null)
      throw new RealtimeError(`the item ${item_id} is not a spoken reply: truncate assistant audio only`, {
        code,
        param: "item_id",
      });
    const playedMs = item.outputAudio.truncate(audio_end_ms);
    this.#send("conversation.item.truncated", { item_id, content_index, audio_end_ms: playedMs });
  }

  /**
   * Appends an item of the server. An item that a client created under the same id is deleted.
   *
   * @returns the id of the item before it
   */
  append(item: ConversationItem): string | null {
    if (this.#ids.has(item.id)) this.delete(item.id);
    return this.#insert(item, null);
  }

  sendAdded(item: ConversationItem, previous: string | null): void {
    const fields = { previous_item_id: previous, item: itemPayload(item) };
    this.#send("conversation.item.added", fields);
    this.#send("conversation.item.done", fields);
  }

  #get(id: string, code: string): ConversationItem {
    const item = this.#all.find((each) => each.id === id);
    if (item === undefined)
      throw new RealtimeError(`the conversation has no item ${id}`, { code, param: "item_id" });
    return item;
  }

  #insert(item: ConversationItem, after: string | null): string | null {
    if (this.#ids.has(item.id)) {
      const details = { code: "item_create_duplicate_item_id", param: "item.id" };
      throw new RealtimeError(`the conversation has an item ${item.id} already`, details);
    }
    const isAppended = after === null;
    const at = after === "root" ? 0 : this.#all.findIndex(({ id }) => id === after) + 1;
    if (!isAppended && after !== "root" && at === 0) {
      const details = { code: "item_create_invalid_previous_item_id", param: "previous_item_id" };
      throw new RealtimeError(`the conversation has no item ${after} to follow`, details);
    }
    this.#all.splice(isAppended ? this.#all.length : at, 0, item);
    this.#ids.add(item.id);
    this.#evict(item);
    return this.#all[this.#all.indexOf(item) - 1]?.id ?? null;
  }

  #evict(added: ConversationItem): void {
    let chars = this.#all.reduce((sum, item) => sum + charsOf(item), 0);
    while (this.#all.length > 1 && (this.#all.length > MAX_ITEMS || chars > MAX_ITEM_CHARS)) {
      const [oldest] = this.#all.splice(this.#all[0] === added ? 1 : 0, 1);
      this.#ids.delete(oldest!.id);
      chars -= charsOf(oldest!);
      this.#send("conversation.item.deleted", { item_id: oldest!.id });
    }
  }
}

function charsOf(item: ConversationItem): number {
  if (item.type === "message") return item.text?.length ?? 0;
  return item.type === "function_call" ? item.arguments.length : item.output.length;
}

/** Creates an item from a client's, with a new id if it has none. */
export function createItem(given: NewItem, newId: () => string): ConversationItem {
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
    outputAudio: null,
  };
}

/** Returns an item as events represent it. An interrupted message contains only what was played. */
export function itemPayload(item: ConversationItem): Record<string, unknown> {
  const base = { id: item.id, object: "realtime.item", type: item.type, status: item.status };
  if (item.type === "function_call") {
    return { ...base, call_id: item.callId, name: item.name, arguments: item.arguments };
  }
  if (item.type === "function_call_output") return { ...base, call_id: item.callId, output: item.output };
  const { role, medium } = item;
  const text = itemText(item);
  // agents-realtime throws if `transcript` is missing from a user's audio.
  if (role === "user" && medium === "audio")
    return { ...base, role, content: [{ type: "input_audio", transcript: text }] };
  if (text === null || (text === "" && item.status === "in_progress")) return { ...base, role, content: [] };
  if (role !== "assistant") return { ...base, role, content: [{ type: "input_text", text }] };
  const part =
    medium === "audio" ? { type: "output_audio", transcript: text } : { type: "output_text", text };
  return { ...base, role, content: [part] };
}

/** Returns the item of a user's spoken turn. @param text `null` until it is transcribed */
export function spokenTurn(id: string, text: string | null): MessageItem {
  return { id, type: "message", role: "user", status: "completed", text, medium: "audio", outputAudio: null };
}

/** Returns the text of a message as far as it was played; `null` until it is known. */
export function itemText(item: ConversationItem): string | null {
  return item.type === "message" ? (item.outputAudio?.playedText() ?? item.text) : null;
}
