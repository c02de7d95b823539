import type { ServerEvent } from "../../../src/api/realtime/realtime-dialect.ts";
import { faultForClients } from "./client-schemas.ts";

/** The fields that strict clients take as null. */
const MAY_BE_NULL = new Set(["previous_item_id", "usage", "transcript", "turn_detection"]);
/** The fields that may have a fraction, unlike milliseconds, tokens and times. */
const MAY_BE_FRACTION = new Set(["speed", "threshold"]);

/** Returns what strict clients would refuse in an event. */
export function wireFaults(event: ServerEvent): string[] {
  const faults: string[] = [];
  const { event_id: id } = event;
  if (typeof id !== "string" || id === "") faults.push("event_id is missing");
  if (event.type.includes("input_audio_transcription") && event.usage === null) faults.push("usage is null");
  const refused = faultForClients(event);
  if (refused !== null) faults.push(refused);
  walk(event, "", faults);
  if (event.type === "conversation.item.added" || event.type === "conversation.item.done") {
    if (!("previous_item_id" in event)) faults.push("previous_item_id is missing");
  }
  return faults.map((fault) => `${event.type}: ${fault}`);
}

function walk(value: unknown, path: string, faults: string[]): void {
  const name = path.slice(path.lastIndexOf(".") + 1);
  if (path.startsWith(".response.metadata") || path.includes(".parameters")) return;
  if (value === null) {
    if (!MAY_BE_NULL.has(name)) faults.push(`${path} is null`);
  } else if (value === undefined) faults.push(`${path} is undefined`);
  else if (typeof value === "number") {
    const isOdd = !Number.isFinite(value) || (!Number.isInteger(value) && !MAY_BE_FRACTION.has(name));
    if (isOdd) faults.push(`${path} is ${value}`);
    if (name.endsWith("_ms") && value < 0) faults.push(`${path} is ${value}`);
  } else if (Array.isArray(value)) for (const each of value) walk(each, path, faults);
  else if (typeof value === "object") {
    for (const [key, member] of Object.entries(value)) walk(member, `${path}.${key}`, faults);
    const { type, transcript } = value as { readonly type?: unknown; readonly transcript?: unknown };
    if (type === "input_audio" && transcript === undefined) faults.push(`${path} has no transcript`);
  }
}
