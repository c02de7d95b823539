import type { SpokenWord } from "../../contract/spoken.ts";
import { type FunctionCallItem, type Item, type MessageItem, wireItem } from "./conversation-items.ts";
import { type ReplyWord, SpokenReply } from "./output-audio.ts";
import type { ServerEvent } from "./realtime-dialect.ts";
import type { SessionSettings } from "./session-settings.ts";

/** Some of a reply. */
export interface Spoken {
  /** Words whose sound begins with this; of a reply in text alone, words. */
  readonly text: string;
  readonly sound: {
    /** In the session's output format, in base64. */
    readonly base64: string;
    readonly durationMs: number;
    readonly words: readonly ReplyWord[];
    /** The words that begin in it as our own client is told of them, in a field that others do not read. */
    readonly marks?: readonly SpokenWord[];
  } | null;
  /** A function that the writer calls. */
  readonly call?: { readonly callId: string; readonly name: string; readonly arguments: string };
}

/** How a reply ended. */
export type ReplyEnd =
  | { readonly type: "completed"; readonly usage: ReplyUsage }
  | { readonly type: "incomplete"; readonly reason: "max_output_tokens"; readonly usage: ReplyUsage }
  | { readonly type: "failed"; readonly code: string; readonly message: string }
  | { readonly type: "cancelled"; readonly reason: "turn_detected" | "client_cancelled" };

/** What was used, in tokens; frames of 80 ms are those of sound. */
export interface ReplyUsage {
  readonly inputTokens: number;
  readonly textTokens: number;
  readonly audioTokens: number;
}

export interface ResponseParts {
  readonly id: string;
  /** That its message will have. */
  readonly itemId: string;
  readonly settings: SessionSettings;
  /** `null` of a reply beside the conversation. */
  readonly conversationId: string | null;
  readonly metadata: unknown;
  /** When the replies before it will have been played, as far as is known now. */
  readonly playedBeforeMs: () => number;
  readonly send: (event: ServerEvent) => void;
  /** Adds an item to the conversation; returns the id of the one before it. */
  readonly add: (item: Item) => string | null;
}

/** A reply: the items that it makes, and the events that tell of them, in the order that clients rely on. */
export class Response {
  readonly id: string;
  readonly #parts: ResponseParts;
  readonly #output: Item[] = [];
  /** Of each item of the conversation, the id of the one before it. */
  readonly #previousOf = new Map<string, string | null>();
  #message: MessageItem | null = null;
  /** Code points and milliseconds of the messages before. */
  readonly #before = { chars: 0, ms: 0 };
  #status: "in_progress" | ReplyEnd["type"] = "in_progress";

  constructor(parts: ResponseParts) {
    this.id = parts.id;
    this.#parts = parts;
  }

  /** When all of it that was sent will have been played. */
  get playedAtMs(): number {
    for (const item of this.#output.toReversed())
      if (item.type === "message" && item.spoken !== null && item.spoken.sentMs > 0)
        return item.spoken.playedAtMs();
    return this.#parts.playedBeforeMs();
  }

  /** Whether some of its sound was sent. */
  get hasSound(): boolean {
    return this.#output.some((item) => item.type === "message" && (item.spoken?.sentMs ?? 0) > 0);
  }

  begin(): void {
    this.#tell("response.created", { response: this.#wire() });
  }

  say({ text: given, sound, call }: Spoken, nowMs: number): void {
    if (call !== undefined) {
      this.#endMessage("completed");
      this.#call(call);
      return;
    }
    if (given === "" && sound === null) return;
    const message = this.#message ?? this.#beginMessage();
    // No message begins with the space that parts it from the one before.
    const text = message.text === "" ? given.trimStart() : given;
    this.#before.chars += given.length - text.length;
    const at = this.#at(message);
    if (text !== "") {
      message.spoken?.addText(text);
      message.text = (message.text ?? "") + text;
      const kind = message.medium === "audio" ? "output_audio_transcript" : "output_text";
      this.#tell(`response.${kind}.delta`, { ...at, delta: text });
    }
    if (sound === null) return;
    const { chars, ms } = this.#before;
    // Words are counted from the beginning of the reply, and heard as those of their message.
    const words = sound.words.map(({ endMs, endsAt }) => ({ endMs: endMs - ms, endsAt: endsAt - chars }));
    message.spoken?.addSound(sound.durationMs, words, Math.max(nowMs, this.playedAtMs));
    const { base64: delta, marks = [] } = sound;
    const told = marks.map(({ word, start, end, offset, length }) => ({
      word,
      start_ms: Math.round(1_000 * start - ms),
      end_ms: Math.round(1_000 * end - ms),
      offset: offset - chars,
      length,
    }));
    this.#tell("response.output_audio.delta", {
      ...at,
      delta,
      ...(told.length === 0 ? {} : { antiphon_words: told }),
    });
  }

  /** No more of it is heard than is played by now. */
  cut(nowMs: number): void {
    for (const item of this.#output) if (item.type === "message") item.spoken?.cut(nowMs);
  }

  /** Tells its end, once. */
  end(end: ReplyEnd): void {
    if (this.#status !== "in_progress") return;
    this.#endMessage(end.type === "completed" ? "completed" : "incomplete");
    this.#status = end.type;
    this.#tell("response.done", { response: { ...this.#wire(), ...detailsOf(end), usage: usageOf(end) } });
  }

  #beginMessage(): MessageItem {
    const { settings, itemId } = this.#parts;
    const isFirst = this.#output.every(({ type }) => type !== "message");
    const message: MessageItem = {
      id: isFirst ? itemId : `${itemId}_${this.#output.length}`,
      type: "message",
      role: "assistant",
      status: "in_progress",
      text: "",
      medium: settings.modality,
      spoken: settings.modality === "audio" ? new SpokenReply() : null,
    };
    this.#message = message;
    this.#beginItem(message);
    this.#tell("response.content_part.added", { ...this.#at(message), part: partOf(message) });
    return message;
  }

  #endMessage(status: "completed" | "incomplete"): void {
    const message = this.#message;
    if (message === null) return;
    this.#before.chars += [...(message.text ?? "")].length;
    this.#before.ms += message.spoken?.sentMs ?? 0;
    this.#message = null;
    message.status = status;
    if (status === "completed") message.spoken?.complete();
    const at = this.#at(message);
    const text = message.text ?? "";
    if (message.medium === "audio") {
      this.#tell("response.output_audio.done", at);
      this.#tell("response.output_audio_transcript.done", { ...at, transcript: text });
    } else {
      this.#tell("response.output_text.done", { ...at, text });
    }
    this.#tell("response.content_part.done", { ...at, part: partOf(message) });
    this.#endItem(message);
  }

  #call({ callId, name, arguments: given }: NonNullable<Spoken["call"]>): void {
    const item: FunctionCallItem = {
      id: `${this.#parts.itemId}_${this.#output.length}`,
      type: "function_call",
      status: "in_progress",
      callId,
      name,
      arguments: "",
    };
    this.#beginItem(item);
    item.arguments = given;
    item.status = "completed";
    const at = {
      response_id: this.id,
      item_id: item.id,
      output_index: this.#output.length - 1,
      call_id: callId,
    };
    const told = "response.function_call_arguments";
    this.#tell(`${told}.delta`, { ...at, delta: given });
    this.#tell(`${told}.done`, { ...at, name, arguments: given });
    this.#endItem(item);
  }

  #beginItem(item: Item): void {
    this.#output.push(item);
    const place = { response_id: this.id, output_index: this.#output.length - 1 };
    this.#tell("response.output_item.added", { ...place, item: wireItem(item) });
    if (this.#parts.conversationId === null) return;
    const previous = this.#parts.add(item);
    this.#tell("conversation.item.added", { previous_item_id: previous, item: wireItem(item) });
    this.#previousOf.set(item.id, previous);
  }

  #endItem(item: Item): void {
    const previous = this.#previousOf.get(item.id);
    if (previous !== undefined)
      this.#tell("conversation.item.done", { previous_item_id: previous, item: wireItem(item) });
    const place = { response_id: this.id, output_index: this.#output.indexOf(item) };
    this.#tell("response.output_item.done", { ...place, item: wireItem(item) });
  }

  #at(message: MessageItem) {
    return {
      response_id: this.id,
      item_id: message.id,
      output_index: this.#output.indexOf(message),
      content_index: 0,
    };
  }

  #wire(): Record<string, unknown> {
    const { settings, conversationId, metadata } = this.#parts;
    return {
      id: this.id,
      object: "realtime.response",
      status: this.#status,
      output: this.#output.map(wireItem),
      ...(conversationId === null ? {} : { conversation_id: conversationId }),
      output_modalities: [settings.modality],
      max_output_tokens: settings.maxOutputTokens,
      audio: { output: { format: settings.outputFormat, voice: settings.voice } },
      ...(metadata === undefined || metadata === null ? {} : { metadata }),
    };
  }

  #tell(type: string, fields: Readonly<Record<string, unknown>>): void {
    this.#parts.send({ type, ...fields });
  }
}

/** Its types stay those of the years before the others were renamed. */
function partOf({ medium, text }: MessageItem): Record<string, unknown> {
  return medium === "audio" ? { type: "audio", transcript: text ?? "" } : { type: "text", text: text ?? "" };
}

function detailsOf(end: ReplyEnd): Record<string, unknown> {
  if (end.type === "completed") return {};
  if (end.type === "failed") {
    const error = { type: "server_error", code: end.code, message: end.message };
    return { status_details: { type: end.type, error } };
  }
  return { status_details: { type: end.type, reason: end.reason } };
}

function usageOf(end: ReplyEnd): Record<string, unknown> | null {
  if (end.type === "failed" || end.type === "cancelled") return null;
  const { inputTokens, textTokens, audioTokens } = end.usage;
  const output = textTokens + audioTokens;
  return {
    total_tokens: inputTokens + output,
    input_tokens: inputTokens,
    output_tokens: output,
    input_token_details: { text_tokens: inputTokens, audio_tokens: 0, cached_tokens: 0 },
    output_token_details: { text_tokens: textTokens, audio_tokens: audioTokens },
  };
}
