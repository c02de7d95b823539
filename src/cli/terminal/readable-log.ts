import type { Screen } from "./command-io.ts";
import { onOneLine } from "./safe-screen.ts";

/** What the log says before the server says it by itself. */
const SAID_ANYWAY = /^Server listening at /;
/** Of every line, and for programs that sort lines. */
const LEFT_OUT = new Set(["level", "time", "pid", "hostname", "msg", "err", "reqId"]);
const LEFT_OUT_OF_A_REQUEST = new Set([...LEFT_OUT, "method", "route", "status", "ms", "end"]);
/** A failure is looked for by its ids. */
const LEFT_OUT_WHERE_FINISHED = new Set([...LEFT_OUT_OF_A_REQUEST, "request_id", "key_id", "trace_id"]);

type Event = Readonly<Record<string, unknown>>;

/** A destination of the log that shows its JSON lines to a person: `12:30:05 POST /v1/tts 200, 168 ms`. */
export function readableLog(screen: Screen): { write(line: string): void } {
  return {
    write(line) {
      const shown = readable(line);
      if (shown !== null) screen.write(`${shown}\n`);
    },
  };
}

/** One line of the log as a person reads it, and below it the stack of an unexpected error; null where it says nothing new. */
export function readable(line: string): string | null {
  const event: Event = JSON.parse(line);
  const { level, time, msg = "", err } = event;
  if (SAID_ANYWAY.test(`${msg}`)) return null;
  const at = new Date(Number(time)).toTimeString().slice(0, 8);
  const severity = Number(level) >= 50 ? "error: " : Number(level) >= 40 ? "warning: " : "";
  const [what, leftOut] = msg === "request" ? [request(event), leftOutOf(event)] : [msg, LEFT_OUT];
  const others = Object.entries(event).filter(([name]) => !leftOut.has(name));
  const details = others.map(([name, value]) => ` ${name}=${written(value)}`).join("");
  return `${at} ${severity}${onOneLine({ isTTY: true }, `${what}`)}${details}${stackOf(err)}`;
}

function request({ method, route, status, ms, end }: Event): string {
  const how = end === "finished" ? "" : ` (${end})`;
  return `${[method, route, status].filter((part) => part !== undefined && part !== null).join(" ")}, ${ms} ms${how}`;
}

function leftOutOf({ end }: Event): ReadonlySet<string> {
  return end === "finished" ? LEFT_OUT_WHERE_FINISHED : LEFT_OUT_OF_A_REQUEST;
}

function written(value: unknown): string {
  return typeof value === "string" && /^\S+$/.test(value) ? value : JSON.stringify(value);
}

function stackOf(err: unknown): string {
  if (typeof err !== "object" || err === null) return "";
  const { stack, message } = err as Event;
  return `\n${stack ?? message ?? ""}`.replaceAll("\n", "\n  ").trimEnd();
}
