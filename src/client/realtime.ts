import { AntiphonError } from "./antiphon-error.ts";
import {
  EVENT_HANDLERS,
  type EventHandlers,
  openSession,
  type RealtimeEvent,
  type RealtimeOptions,
  type RealtimeState,
  type Socket,
  withTranscription,
  wordOf,
} from "./realtime-connection.ts";
import { heardText, newTurn, type OpenTurn, type RealtimeTurn, ReplyPlayback } from "./realtime-turn.ts";
import type { Word } from "./replies.ts";
import { pcmOf, toBase64 } from "./samples.ts";

export {
  type RealtimeAddress,
  type RealtimeEvent,
  type RealtimeOptions,
  type RealtimeState,
  refusalOf,
  type Socket,
  type SocketClass,
} from "./realtime-connection.ts";
export { heardText, type RealtimeTurn, type ReplyPlayer, type ReplyPlayerEvents } from "./realtime-turn.ts";

/**
 * A spoken conversation with a server. {@link hear} takes the user's speech; replies are played, and stop when the
 * user speaks. The server learns how much of them was played.
 */
export class RealtimeConversation {
  readonly #options: RealtimeOptions;
  readonly #turns: OpenTurn[] = [];
  #socket: Socket | null = null;
  readonly #queued: RealtimeEvent[] = [];
  #reportedState: RealtimeState = "connecting";
  #isClosed = false;
  /** Whether speech interrupts replies in the server's session. */
  #interrupts = true;
  #isUserSpeaking = false;
  #isReplyAwaited = false;
  #responseId: string | null = null;
  #mustRetryResponse = false;
  readonly #playback: ReplyPlayback<OpenTurn>;
  /** Milliseconds of audio sent, and when the last was sent. */
  #sentMs = 0;
  #sentAtMs = 0;
  #endedAtMs: number | null = null;

  constructor(options: RealtimeOptions) {
    this.#options = options;
    this.#playback = new ReplyPlayback({
      openPlayer: options.openPlayer,
      onPosition: (turn, seconds) => options.onPosition?.(turn, seconds),
      onHeard: (turn) => {
        this.#change(turn.id, { state: "done" });
        this.#reportState();
      },
    });
    for (const turn of options.history ?? []) this.#turns.push({ ...turn, words: [...turn.words] });
  }

  get turns(): readonly RealtimeTurn[] {
    return this.#turns;
  }

  get state(): RealtimeState {
    if (this.#isClosed) return "closed";
    if (this.#socket === null) return "connecting";
    if (this.#isUserSpeaking) return "hearing";
    if (this.#playback.turn !== null) return "speaking";
    return this.#responseId !== null || this.#isReplyAwaited ? "thinking" : "listening";
  }

  /**
   * Connects, and resolves when the conversation can begin. Text and changes sent meanwhile follow then. Throws an
   * {@link AntiphonError} if it is refused.
   */
  async connect(): Promise<void> {
    try {
      const socket = await openSession(this.#options, {
        onEvent: (event) => this.#onEvent(event),
        onClose: (reason) => this.#onClose(reason),
      });
      if (this.#isClosed) {
        socket.close();
        throw new AntiphonError("connection_error", "the conversation was closed before it began");
      }
      this.#socket = socket;
    } catch (error) {
      this.#isClosed = true;
      this.#reportState();
      throw error;
    }
    this.update(withTranscription(this.#options.session));
    for (const turn of this.#options.history ?? []) this.#create(turn);
    for (const event of this.#queued.splice(0)) this.send(event);
    this.#reportState();
  }

  /** Sends microphone audio as it arrives: 16-bit samples at 24 kHz, some 20 ms at a time. */
  hear(pcm: Int16Array): void {
    if (this.#socket === null || this.#isClosed) return;
    this.#sentMs += pcm.length / 24;
    this.#sentAtMs = performance.now();
    const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    this.send({ type: "input_audio_buffer.append", audio: toBase64(bytes) });
  }

  /** Sends a text message. Interrupts the current reply. */
  say(text: string): void {
    this.interrupt();
    const turn = newTurn(`item_${Math.random().toString(36).slice(2)}`, "user", "done", text);
    this.#turns.push(turn);
    this.#endedAtMs = performance.now();
    this.#create(turn);
    this.send({ type: "response.create" });
    this.#isReplyAwaited = true;
    this.#changed(turn);
  }

  /** Stops the current reply. */
  interrupt(): void {
    if (this.#responseId !== null) this.send({ type: "response.cancel" });
    this.#silence();
    this.#reportState();
  }

  /** Changes session settings, as `session.update` takes them. */
  update(session: Readonly<Record<string, unknown>>): void {
    this.send({ type: "session.update", session: { type: "realtime", ...session } });
  }

  /** Sends a protocol event; before the connection is open, it is queued. */
  send(event: RealtimeEvent): void {
    if (this.#isClosed) return;
    if (this.#socket === null) this.#queued.push(event);
    else this.#socket.send(JSON.stringify(event));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#silence();
    this.#isClosed = true;
    this.#socket?.close();
    this.#endOpenTurns();
  }

  #onEvent(event: RealtimeEvent): void {
    if (this.#isClosed) return;
    this.#options.onEvent?.(event);
    const handler = Object.hasOwn(EVENT_HANDLERS, event.type) ? EVENT_HANDLERS[event.type] : undefined;
    try {
      // Handlers throw on events that violate the protocol.
      if (handler !== undefined) this.#handlers[handler](event as never);
    } catch (cause) {
      const error = new AntiphonError("invalid_response", `the event ${event.type} cannot be read`, {
        cause,
      });
      if (this.#options.onError === undefined) throw error;
      this.#options.onError(error);
    }
    this.#reportState();
  }

  readonly #handlers: EventHandlers = {
    session: ({ session }) => {
      this.#interrupts = session.audio?.input?.turn_detection?.interrupt_response !== false;
    },
    speechStarted: ({ item_id: id }) => {
      this.#isUserSpeaking = true;
      if (this.#interrupts) this.#silence();
      this.#begin(newTurn(id, "user", "speaking"));
    },
    speechStopped: ({ item_id: id, audio_end_ms: endMs }) => {
      this.#isUserSpeaking = false;
      this.#isReplyAwaited = true;
      this.#endedAtMs = this.#sentAtMs - Math.max(0, this.#sentMs - endMs);
      this.#change(id, { state: "recognising" });
    },
    transcribed: ({ item_id: id, transcript }) =>
      this.#change(id, { text: transcript.trim(), state: "done" }),
    transcriptionFailed: ({ item_id: id, error }) => {
      this.#isReplyAwaited = false;
      this.#remove(id);
      this.#fail(error.message);
    },
    deleted: ({ item_id: id }) => {
      this.#isReplyAwaited = false;
      this.#remove(id);
    },
    responseCreated: ({ response }) => {
      this.#responseId = response.id;
      this.#isReplyAwaited = false;
    },
    text: ({ item_id: id, delta }) => {
      const turn = this.#reply(id);
      // An interrupted reply still gets its full text, which `heardText` needs.
      turn.text += delta;
      this.#changed(turn);
    },
    audio: ({ item_id: id, delta, antiphon_words: words = [] }) =>
      this.#addAudio(this.#reply(id), pcmOf(delta), words.map(wordOf)),
    itemDone: ({ item: { id, status } }) => {
      const turn = this.#turns.find((each) => each.id === id);
      if (turn !== undefined) turn.isWhole = status === "completed";
      this.#playback.complete(id);
    },
    textDone: ({ item_id: id }) => this.#change(id, { state: "done" }),
    responseDone: ({ response: { id, status, status_details: details } }) => {
      if (id === this.#responseId) this.#responseId = null;
      if (status === "failed") this.#fail(details?.error?.message ?? "the reply failed");
      // A reply cancelled before its audio was not played at all.
      const isUnplayed = ({ role, state }: OpenTurn) => role === "assistant" && state === "speaking";
      for (const turn of this.#turns.filter(isUnplayed))
        if (!this.#playback.has(turn)) this.#change(turn.id, { state: "interrupted", heardS: 0 });
      if (!this.#mustRetryResponse) return;
      this.#mustRetryResponse = false;
      this.send({ type: "response.create" });
    },
    error: ({ error: { code, message } }) => {
      // Harmless races: the server had begun a reply already, or it ended before it was cancelled.
      if (code === "conversation_already_has_active_response") this.#mustRetryResponse = true;
      else if (code !== "response_cancel_not_active" && code !== "item_truncate_invalid_item_id")
        this.#fail(message);
    },
  };

  #addAudio(turn: OpenTurn, pcm: Int16Array, words: readonly Word[]): void {
    turn.soundMs += pcm.length / 24;
    turn.words.push(...words);
    if (turn.state === "interrupted") return;
    if (turn.latencyMs === null && this.#endedAtMs !== null) {
      turn.latencyMs = Math.round(performance.now() - this.#endedAtMs);
      this.#endedAtMs = null;
      this.#changed(turn);
    }
    this.#options.onAudio?.(turn, pcm);
    this.#playback.add(turn, pcm);
  }

  #silence(): void {
    for (const [turn, heardS] of this.#playback.silence()) {
      this.send({
        type: "conversation.item.truncate",
        item_id: turn.id,
        content_index: 0,
        audio_end_ms: Math.floor(1_000 * heardS),
      });
      this.#change(turn.id, { state: "interrupted", heardS });
    }
  }

  #reply(id: string): OpenTurn {
    return this.#turns.find((turn) => turn.id === id) ?? this.#begin(newTurn(id, "assistant", "speaking"));
  }

  #begin(turn: OpenTurn): OpenTurn {
    this.#turns.push(turn);
    this.#changed(turn);
    return turn;
  }

  #change(id: string, changes: Partial<OpenTurn>): void {
    const turn = this.#turns.find((each) => each.id === id);
    // An interrupted turn keeps its state.
    if (turn === undefined || turn.state === "interrupted") return;
    // A reply is done once it was played.
    if (changes.state === "done" && this.#playback.has(turn)) return;
    this.#changed(Object.assign(turn, changes));
  }

  #remove(id: string): void {
    const at = this.#turns.findIndex((turn) => turn.id === id);
    if (at < 0) return;
    this.#turns.splice(at, 1);
    this.#options.onTurn?.(null);
  }

  #create({ id, role, ...turn }: RealtimeTurn): void {
    const text = heardText({ id, role, ...turn });
    const content = [{ type: role === "user" ? "input_text" : "output_text", text }];
    if (text !== "")
      this.send({ type: "conversation.item.create", item: { id, type: "message", role, content } });
  }

  #changed(turn: OpenTurn): void {
    this.#options.onTurn?.(turn);
    this.#reportState();
  }

  #fail(message: string): void {
    this.#options.onError?.(new AntiphonError("inference_error", message));
  }

  #onClose(reason: string): void {
    if (this.#isClosed) return;
    this.#silence();
    this.#isClosed = true;
    const why = reason === "" ? "the connection broke off" : reason;
    this.#options.onError?.(new AntiphonError("connection_error", why));
    this.#endOpenTurns();
  }

  #endOpenTurns(): void {
    for (const turn of this.#turns.filter(({ state }) => state === "speaking" || state === "recognising")) {
      if (turn.text === "") this.#remove(turn.id);
      else this.#change(turn.id, { state: "done" });
    }
    this.#reportState();
  }

  #reportState(): void {
    const { state } = this;
    if (state === this.#reportedState) return;
    this.#reportedState = state;
    this.#options.onState?.(state);
  }
}
