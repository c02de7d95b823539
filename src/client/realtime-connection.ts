import { AntiphonError, type AntiphonErrorType } from "./antiphon-error.ts";
import type { RealtimeTurn, ReplyPlayer, ReplyPlayerEvents } from "./realtime-turn.ts";
import type { Word } from "./replies.ts";

/** The part of `WebSocket` that a conversation uses: those of browsers, Node 22 and `ws` fit. */
export interface Socket {
  readonly readyState: number;
  onopen: unknown;
  onmessage: unknown;
  onclose: unknown;
  onerror: unknown;
  send(text: string): void;
  close(): void;
}

export type SocketClass = new (url: string, protocols: string[]) => Socket;

/** Where and how a realtime session is opened. */
export interface RealtimeAddress {
  /** Base URL such as `http://127.0.0.1:8080`; empty for a page's own origin. */
  readonly baseUrl: string;
  /** A key or a client secret. */
  readonly apiKey: string;
  /** A public model id; null is the default model. */
  readonly model?: string | null | undefined;
  /** Replaces the global `WebSocket`, which Node has from version 22 on. */
  readonly WebSocket?: SocketClass | undefined;
}

export type RealtimeState =
  | "connecting"
  | "listening"
  /** The user is speaking. */
  | "hearing"
  /** The user has stopped, and no reply is playing yet. */
  | "thinking"
  /** A reply is playing. */
  | "speaking"
  | "closed";

export interface RealtimeOptions extends RealtimeAddress {
  readonly openPlayer: (events: ReplyPlayerEvents) => ReplyPlayer;
  /** Session settings, as the protocol's `session.update` takes them. */
  readonly session?: Readonly<Record<string, unknown>> | undefined;
  readonly history?: readonly RealtimeTurn[] | undefined;
  readonly onState?: (state: RealtimeState) => void;
  /** Called when a turn begins or changes; `null` when one is removed because it had no words. */
  readonly onTurn?: (turn: RealtimeTurn | null) => void;
  /** Called while a reply plays, with its seconds. */
  readonly onPosition?: (turn: RealtimeTurn, seconds: number) => void;
  /** Called with a reply's audio as it arrives: 16-bit samples at 24 kHz. */
  readonly onAudio?: (turn: RealtimeTurn, pcm: Int16Array) => void;
  /** Called with failures. The conversation continues unless `onState` reports `closed`. */
  readonly onError?: (error: AntiphonError) => void;
  /** Called with every server event. */
  readonly onEvent?: (event: RealtimeEvent) => void;
}

/** A client or server event of the protocol. */
export type RealtimeEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

interface Handlers {
  readonly onEvent: (event: RealtimeEvent) => void;
  /** Called once when the connection closes, with the server's reason if it gives one. */
  readonly onClose: (reason: string) => void;
}

const OPEN = 1;

/** Opens a session's WebSocket. Throws an {@link AntiphonError} with the server's message if it is refused. */
export async function openSession(address: RealtimeAddress, { onEvent, onClose }: Handlers): Promise<Socket> {
  const Class = address.WebSocket ?? (globalThis as { WebSocket?: SocketClass }).WebSocket;
  if (Class === undefined) throw new TypeError("there is no global WebSocket: pass one, such as that of ws");
  const url = sessionUrl(address);
  url.protocol = url.protocol.replace("http", "ws");
  const socket = new Class(`${url}`, ["realtime", `openai-insecure-api-key.${address.apiKey}`]);
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.onopen = () => resolve(true);
    socket.onclose = () => resolve(false);
    socket.onerror = () => resolve(false);
  });
  if (!isOpen) throw (await refusalOf(address)) ?? unreachable();
  // Messages that arrive with the opening are delivered after this function has returned.
  socket.onerror = () => {};
  socket.onmessage = ({ data }: { data: unknown }) => {
    const event = eventOf(data);
    if (event !== null) onEvent(event);
  };
  socket.onclose = ({ reason = "" }: { reason?: string } = {}) => onClose(reason);
  if (socket.readyState !== OPEN) throw unreachable();
  return socket;
}

function eventOf(data: unknown): RealtimeEvent | null {
  try {
    const event = JSON.parse(`${data}`);
    return typeof event?.type === "string" ? event : null;
  } catch {
    return null;
  }
}

/** Returns the error of a refused session, which browsers do not report for a WebSocket; null if none. */
export async function refusalOf(address: RealtimeAddress): Promise<AntiphonError | null> {
  const url = sessionUrl(address);
  const headers = { Authorization: `Bearer ${address.apiKey}` };
  try {
    const reply = await fetch(url, { headers, redirect: "manual" });
    // The server only asks for an upgrade.
    if (reply.status === 426) return null;
    const { error } = (await reply.json().catch(() => ({}))) as {
      error?: { type?: AntiphonErrorType; message?: string };
    };
    return new AntiphonError(
      error?.type ?? "invalid_response",
      error?.message ?? `the server answered with status ${reply.status}: does it offer realtime sessions?`,
      { status: reply.status, requestId: reply.headers.get("x-request-id") },
    );
  } catch (cause) {
    return new AntiphonError("connection_error", "the server cannot be reached", { cause });
  }
}

function sessionUrl({ baseUrl, model }: RealtimeAddress): URL {
  const origin = (globalThis as { location?: { origin: string } }).location?.origin;
  const url = new URL(`${baseUrl.replace(/\/+$/, "")}/v1/realtime`, origin);
  if (model) url.searchParams.set("model", model);
  return url;
}

const unreachable = (): AntiphonError =>
  new AntiphonError("connection_error", "the connection was closed before the conversation began");

/** A word of a reply, timed from the first sample of its item. */
export interface WireWord {
  word: string;
  start_ms: number;
  end_ms: number;
  offset: number;
  length: number;
}

/** The events used here, with the fields that are read. */
export interface EventHandlers {
  session(event: {
    session: { audio?: { input?: { turn_detection?: { interrupt_response?: boolean } | null } } };
  }): void;
  speechStarted(event: { item_id: string }): void;
  speechStopped(event: { item_id: string; audio_end_ms: number }): void;
  transcribed(event: { item_id: string; transcript: string }): void;
  transcriptionFailed(event: { item_id: string; error: { message: string } }): void;
  deleted(event: { item_id: string }): void;
  responseCreated(event: { response: { id: string } }): void;
  text(event: { item_id: string; delta: string }): void;
  audio(event: { item_id: string; delta: string; antiphon_words?: WireWord[] }): void;
  itemDone(event: { item: { id: string; status?: string } }): void;
  textDone(event: { item_id: string }): void;
  responseDone(event: {
    response: { id: string; status: string; status_details?: { error?: { message?: string } } };
  }): void;
  error(event: { error: { code?: string; message: string } }): void;
}

export const EVENT_HANDLERS: Readonly<Record<string, keyof EventHandlers>> = {
  "session.created": "session",
  "session.updated": "session",
  "input_audio_buffer.speech_started": "speechStarted",
  "input_audio_buffer.speech_stopped": "speechStopped",
  "conversation.item.input_audio_transcription.completed": "transcribed",
  "conversation.item.input_audio_transcription.failed": "transcriptionFailed",
  "conversation.item.deleted": "deleted",
  "response.created": "responseCreated",
  "response.output_audio_transcript.delta": "text",
  "response.output_text.delta": "text",
  "response.output_audio.delta": "audio",
  "response.output_item.done": "itemDone",
  "response.output_text.done": "textDone",
  "response.done": "responseDone",
  error: "error",
};

/** Adds transcription of the user's speech unless the session configures it. */
export function withTranscription(session: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const { audio = {}, ...others } = session as { audio?: { input?: object } };
  const input = { transcription: { model: "whisper-1" }, ...audio.input };
  return { ...others, audio: { ...audio, input } };
}

export function wordOf({ word, start_ms, end_ms, offset, length }: WireWord): Word {
  return { word, start: start_ms / 1_000, end: end_ms / 1_000, offset, length };
}
