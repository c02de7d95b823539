import type { WordTiming } from "../../contract/spoken.ts";
import {
  type ConversationItem,
  type FunctionCallItem,
  itemPayload,
  type MessageItem,
} from "./conversation-items.ts";
import { OutputAudio, type OutputWord } from "./output-audio.ts";
import type { SendEvent } from "./realtime-dialect.ts";
import type { SessionSettings } from "./session-settings.ts";

export interface ResponseDelta {
  /** Text whose audio starts with this delta; in a text response, any text. */
  readonly text: string;
  readonly audio: {
    /** Base64, in the session's output format. */
    readonly base64: string;
    readonly durationMs: number;
    readonly words: readonly OutputWord[];
    /** Words that begin in this audio, for an extra field that only our client reads. */
    readonly marks?: readonly WordTiming[];
  } | null;
  readonly call?: { readonly callId: string; readonly name: string; readonly arguments: string };
}

export type ResponseEnd =
  | { readonly type: "completed"; readonly usage: ResponseUsage }
  | { readonly type: "incomplete"; readonly reason: "max_output_tokens"; readonly usage: ResponseUsage }
  | { readonly type: "failed"; readonly code: string; readonly message: string }
  | { readonly type: "cancelled"; readonly reason: "turn_detected" | "client_cancelled" };

/** Tokens; an audio token is a frame of 80 ms. */
export interface ResponseUsage {
  readonly inputTokens: number;
  readonly textTokens: number;
  readonly audioTokens: number;
}

export interface ResponseParts {
  readonly id: string;
  readonly itemId: string;
  readonly settings: SessionSettings;
  /** `null`: out of band. */
  readonly conversationId: string | null;
  readonly metadata: unknown;
  /** Returns when the earlier responses will have been played, as far as is known. */
  readonly previousPlaybackEndMs: () => number;
  readonly send: SendEvent;
  /** Appends an item to the conversation. Returns the id of the item before it. */
  readonly append: (item: ConversationItem) => string | null;
}

/** A response: its output items and its events, in the order that clients rely on. */
export class RealtimeResponse {
  readonly id: string;
  readonly #parts: ResponseParts;
  readonly #output: ConversationItem[] = [];
  /** Per item in the conversation, the id of the item before it. */
  readonly #previousIds = new Map<string, string | null>();
  #message: MessageItem | null = null;
  /** Length of the earlier messages: code points and milliseconds. */
  readonly #previousMessages = { chars: 0, ms: 0 };
  #status: "in_progress" | ResponseEnd["type"] = "in_progress";

  constructor(parts: ResponseParts) {
    this.id = parts.id;
    this.#parts = parts;
  }

  get playbackEndMs(): number {
    for (const item of this.#output.toReversed())
      if (item.type === "message" && item.outputAudio !== null && item.outputAudio.sentMs > 0)
        return item.outputAudio.playbackEndMs();
    return this.#parts.previousPlaybackEndMs();
  }

  get hasAudio(): boolean {
    return this.#output.some((item) => item.type === "message" && (item.outputAudio?.sentMs ?? 0) > 0);
  }

  begin(): void {
    this.#parts.send("response.created", { response: this.#payload() });
  }

  append({ text: given, audio, call }: ResponseDelta, nowMs: number): void {
    if (call !== undefined) {
      this.#endMessage("completed");
      this.#addCall(call);
      return;
    }
    if (given === "" && audio === null) return;
    const message = this.#message ?? this.#beginMessage();
    // A message does not start with the space that separates it from the previous one.
    const text = message.text === "" ? given.trimStart() : given;
    this.#previousMessages.chars += given.length - text.length;
    const at = this.#position(message);
    if (text !== "") {
      message.outputAudio?.addText(text);
      message.text = (message.text ?? "") + text;
      const kind = message.medium === "audio" ? "output_audio_transcript" : "output_text";
      this.#parts.send(`response.${kind}.delta`, { ...at, delta: text });
    }
    if (audio === null) return;
    const { chars, ms } = this.#previousMessages;
    // Words are counted from the start of the response, but sent relative to their message.
    const words = audio.words.map(({ endMs, endsAt }) => ({ endMs: endMs - ms, endsAt: endsAt - chars }));
    message.outputAudio?.addAudio(audio.durationMs, words, Math.max(nowMs, this.playbackEndMs));
    const { base64: delta, marks = [] } = audio;
    const antiphonWords = marks.map(({ word, start, end, offset, length }) => ({
      word,
      start_ms: Math.round(1_000 * start - ms),
      end_ms: Math.round(1_000 * end - ms),
      offset: offset - chars,
      length,
    }));
    this.#parts.send("response.output_audio.delta", {
      ...at,
      delta,
      ...(antiphonWords.length === 0 ? {} : { antiphon_words: antiphonWords }),
    });
  }

  interrupt(nowMs: number): void {
    for (const item of this.#output) if (item.type === "message") item.outputAudio?.interrupt(nowMs);
  }

  end(end: ResponseEnd): void {
    if (this.#status !== "in_progress") return;
    this.#endMessage(end.type === "completed" ? "completed" : "incomplete");
    this.#status = end.type;
    this.#parts.send("response.done", {
      response: { ...this.#payload(), ...detailsOf(end), usage: usageOf(end) },
    });
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
      outputAudio: settings.modality === "audio" ? new OutputAudio() : null,
    };
    this.#message = message;
    this.#beginItem(message);
    this.#parts.send("response.content_part.added", { ...this.#position(message), part: partOf(message) });
    return message;
  }

  #endMessage(status: "completed" | "incomplete"): void {
    const message = this.#message;
    if (message === null) return;
    this.#previousMessages.chars += [...(message.text ?? "")].length;
    this.#previousMessages.ms += message.outputAudio?.sentMs ?? 0;
    this.#message = null;
    message.status = status;
    if (status === "completed") message.outputAudio?.complete();
    const at = this.#position(message);
    const text = message.text ?? "";
    if (message.medium === "audio") {
      this.#parts.send("response.output_audio.done", at);
      this.#parts.send("response.output_audio_transcript.done", { ...at, transcript: text });
    } else {
      this.#parts.send("response.output_text.done", { ...at, text });
    }
    this.#parts.send("response.content_part.done", { ...at, part: partOf(message) });
    this.#endItem(message);
  }

  #addCall({ callId, name, arguments: given }: NonNullable<ResponseDelta["call"]>): void {
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
    const at = { ...this.#place(item), item_id: item.id, call_id: callId };
    this.#parts.send("response.function_call_arguments.delta", { ...at, delta: given });
    this.#parts.send("response.function_call_arguments.done", { ...at, name, arguments: given });
    this.#endItem(item);
  }

  #beginItem(item: ConversationItem): void {
    this.#output.push(item);
    this.#parts.send("response.output_item.added", { ...this.#place(item), item: itemPayload(item) });
    if (this.#parts.conversationId === null) return;
    const previous = this.#parts.append(item);
    this.#parts.send("conversation.item.added", { previous_item_id: previous, item: itemPayload(item) });
    this.#previousIds.set(item.id, previous);
  }

  #endItem(item: ConversationItem): void {
    const previous = this.#previousIds.get(item.id);
    if (previous !== undefined)
      this.#parts.send("conversation.item.done", { previous_item_id: previous, item: itemPayload(item) });
    this.#parts.send("response.output_item.done", { ...this.#place(item), item: itemPayload(item) });
  }

  #place(item: ConversationItem) {
    return { response_id: this.id, output_index: this.#output.indexOf(item) };
  }

  #position(message: MessageItem) {
    return { ...this.#place(message), item_id: message.id, content_index: 0 };
  }

  #payload(): Record<string, unknown> {
    const { settings, conversationId, metadata } = this.#parts;
    return {
      id: this.id,
      object: "realtime.response",
      status: this.#status,
      output: this.#output.map(itemPayload),
      ...(conversationId === null ? {} : { conversation_id: conversationId }),
      output_modalities: [settings.modality],
      max_output_tokens: settings.maxOutputTokens,
      audio: { output: { format: settings.outputFormat, voice: settings.voice } },
      ...(metadata === undefined || metadata === null ? {} : { metadata }),
    };
  }
}

/** Content part types kept their old names when the item types were renamed. */
function partOf({ medium, text }: MessageItem): Record<string, unknown> {
  return medium === "audio" ? { type: "audio", transcript: text ?? "" } : { type: "text", text: text ?? "" };
}

function detailsOf(end: ResponseEnd): Record<string, unknown> {
  if (end.type === "completed") return {};
  if (end.type === "failed") {
    const error = { type: "server_error", code: end.code, message: end.message };
    return { status_details: { type: end.type, error } };
  }
  return { status_details: { type: end.type, reason: end.reason } };
}

function usageOf(end: ResponseEnd): Record<string, unknown> | null {
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
