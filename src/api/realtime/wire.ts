import type { Item } from "./items.ts";
import type { RealtimeError } from "./realtime-error.ts";

/** An event for the client, to which its transport adds an id. */
export type ServerEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

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

/** An error as its event tells it: what is unknown is left out, since agents-realtime takes no `null`. */
export function wireError(error: RealtimeError, eventId?: string): Record<string, unknown> {
  const { type, code, param, message } = error;
  return {
    type,
    message,
    ...(code === null ? {} : { code }),
    ...(param === null ? {} : { param }),
    ...(eventId === undefined ? {} : { event_id: eventId }),
  };
}
