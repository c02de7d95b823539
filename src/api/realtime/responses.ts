import type { ResponseOptions } from "../../contract/realtime/client-events.ts";
import { createItem } from "./conversation-items.ts";
import { RealtimeError } from "./realtime-error.ts";
import { RealtimeResponse, type ResponseDelta, type ResponseEnd } from "./realtime-response.ts";
import type { ResponseRequest, SessionContext } from "./session-events.ts";
import { updateSettings } from "./session-settings.ts";

/** Concurrent out-of-band responses. Each takes a writer slot and a speech slot, which sessions share. */
const MAX_OUT_OF_BAND = 4;

/** The state of the user's turn, which decides whether a response may begin. */
export interface TurnState {
  readonly isTranscribed: boolean;
  /** Whether the user holds the turn, so that no audio may be sent. */
  readonly isUserSpeaking: boolean;
}

export interface ResponseTrigger extends TurnState {
  /** End of the speech being answered; `null` without any. */
  readonly speechEndMs: number | null;
}

interface PendingResponse {
  readonly request: ResponseRequest;
  readonly isOutOfBand: boolean;
  /** Whether the client supplied `input` instead of the conversation. */
  readonly hasInput: boolean;
}

/** The responses of a session: one at a time in the conversation, and several out of band. */
export class Responses {
  readonly #context: SessionContext;
  readonly #conversationId: string;
  /** The conversation's latest response. It may have ended and still be playing. */
  #latest: RealtimeResponse | null = null;
  /** Responses that were still playing when the latest one began, as before a quick function output. Oldest first. */
  #stillPlaying: RealtimeResponse[] = [];
  #isResponding = false;
  readonly #outOfBand = new Map<string, RealtimeResponse>();
  /**
   * Responses requested while a turn was being transcribed (clients that commit turns themselves) or spoken (function
   * outputs).
   */
  #pending: PendingResponse[] = [];
  /** Start and end of the latest response, held back while the user may continue. */
  readonly #heldBack: ResponseDelta[] = [];
  #heldEnd: ResponseEnd | null = null;
  /** End of the speech that the latest response answers, until its first audio is sent. */
  #unansweredSpeechEndMs: number | null = null;
  #hasSentAudio = false;

  constructor(context: SessionContext, conversationId: string) {
    this.#context = context;
    this.#conversationId = conversationId;
  }

  get isResponding(): boolean {
    return this.#isResponding;
  }

  get isRespondingOrPlaying(): boolean {
    return this.#isResponding || this.#isPlaying;
  }

  get isPlaying(): boolean {
    return this.#isPlaying || (this.#isResponding && this.#latest?.hasAudio === true);
  }

  get hasSentAudio(): boolean {
    return this.#hasSentAudio;
  }

  get isHeldBack(): boolean {
    return this.#heldBack.length > 0;
  }

  get playbackEndMs(): number {
    return this.#latest?.playbackEndMs ?? 0;
  }

  /** Creates a response. Returns whether it is out of band. Throws a {@link RealtimeError} if it is not allowed. */
  create(options: ResponseOptions, { speechEndMs, ...turnState }: ResponseTrigger): boolean {
    const { newId, send } = this.#context;
    const isOutOfBand = options.conversation === "none";
    this.#checkAllowed(isOutOfBand);
    const { instructions, output_modalities, max_output_tokens, tools, tool_choice } = options;
    const changes = { instructions, output_modalities, max_output_tokens, tools, tool_choice };
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const settings = updateSettings(this.#context.settings(), given, false, "response");
    const items = options.input?.map((item) => createItem(item, () => newId("item_"))) ?? [
      ...this.#context.items.all,
    ];
    const response = new RealtimeResponse({
      id: newId("resp_"),
      itemId: newId("item_"),
      settings,
      conversationId: isOutOfBand ? null : this.#conversationId,
      metadata: options.metadata,
      previousPlaybackEndMs: () =>
        isOutOfBand ? 0 : Math.max(0, ...this.#stillPlaying.map(({ playbackEndMs }) => playbackEndMs)),
      send,
      append: (item) => (isOutOfBand ? null : this.#context.items.append(item)),
    });
    if (isOutOfBand) {
      this.#outOfBand.set(response.id, response);
    } else {
      this.#isResponding = true;
      this.#stillPlaying = this.#playing;
      this.#latest = response;
      this.#unansweredSpeechEndMs = speechEndMs;
    }
    response.begin();
    const request = { responseId: response.id, items, settings };
    const hasInput = options.input !== undefined;
    const asked: PendingResponse = { request, isOutOfBand, hasInput };
    if (mayBegin(asked, turnState)) this.#context.do({ type: "respond", request });
    else this.#pending.push(asked);
    return isOutOfBand;
  }

  /**
   * Begins the pending responses that may begin. They answer what was said meanwhile too.
   *
   * @returns whether the conversation's own response begins
   */
  beginPending(turnState: TurnState): boolean {
    if (this.#pending.length === 0) return false;
    const pending = this.#pending.filter(({ request }) => this.#findActive(request.responseId) !== null);
    this.#pending = pending.filter((each) => !mayBegin(each, turnState));
    const begun = pending.filter((each) => mayBegin(each, turnState));
    for (const { request, hasInput } of begun) {
      const items = hasInput ? request.items : [...this.#context.items.all];
      this.#context.do({ type: "respond", request: { ...request, items } });
    }
    return begun.some(({ isOutOfBand, hasInput }) => !isOutOfBand && !hasInput);
  }

  /**
   * Sends a part of a response.
   *
   * @param mayUserContinue whether the user may continue: then its start is held back until {@link release}
   */
  append(responseId: string, delta: ResponseDelta, mayUserContinue: boolean): void {
    const response = this.#findActive(responseId);
    if (response === null) return;
    const isHeldBack =
      response === this.#latest && !response.hasAudio && (mayUserContinue || this.isHeldBack);
    if (isHeldBack) this.#heldBack.push(delta);
    else this.#append(response, delta);
  }

  release(): boolean {
    const response = this.#active;
    const [held, end] = [this.#heldBack.splice(0), this.#heldEnd];
    this.#heldEnd = null;
    if (response === null) return false;
    for (const delta of held) this.#append(response, delta);
    return end !== null && this.end(response.id, end);
  }

  end(responseId: string, end: ResponseEnd): boolean {
    const response = this.#findActive(responseId);
    if (response === null) return false;
    const isOfConversation = response === this.#latest;
    if (isOfConversation && this.isHeldBack) {
      this.#heldEnd = end;
      return false;
    }
    this.#finish(response);
    response.end(end);
    return isOfConversation;
  }

  /** Ends the response and limits all that is playing to what was played. */
  interrupt(): void {
    const active = this.#active;
    for (const response of this.#playing) response.interrupt(this.#context.nowMs());
    if (active !== null) this.#cancel(active, "turn_detected");
  }

  /** @param id default: the conversation's response. Throws a {@link RealtimeError} if it is not in progress */
  cancelByClient(id: string | undefined): void {
    const response = id === undefined ? this.#active : this.#findActive(id);
    if (response === null) {
      const code = "response_cancel_not_active";
      throw new RealtimeError("Cancellation failed: no active response found", { code });
    }
    this.#cancel(response, "client_cancelled");
  }

  get #active(): RealtimeResponse | null {
    return this.#isResponding ? this.#latest : null;
  }

  get #isPlaying(): boolean {
    return this.playbackEndMs > this.#context.nowMs();
  }

  get #playing(): RealtimeResponse[] {
    const all = this.#latest === null ? this.#stillPlaying : [...this.#stillPlaying, this.#latest];
    return all.filter((response) => response.hasAudio && response.playbackEndMs > this.#context.nowMs());
  }

  #findActive(id: string): RealtimeResponse | null {
    return this.#active?.id === id ? this.#active : (this.#outOfBand.get(id) ?? null);
  }

  #checkAllowed(isOutOfBand: boolean): void {
    const code = "conversation_already_has_active_response";
    if (this.#context.settings().type === "transcription") {
      throw new RealtimeError("a transcription session has no responses: open one of type realtime", {
        code: "invalid_value",
        param: "type",
      });
    }
    if (isOutOfBand && this.#outOfBand.size >= MAX_OUT_OF_BAND) {
      const message = `${MAX_OUT_OF_BAND} out-of-band responses are in progress: wait for one to end`;
      throw new RealtimeError(message, { code });
    }
    if (this.#isResponding && !isOutOfBand) {
      throw new RealtimeError("a response is in progress: wait for its response.done, or cancel it", {
        code,
      });
    }
  }

  #append(response: RealtimeResponse, delta: ResponseDelta): void {
    const nowMs = this.#context.nowMs();
    response.append(delta, nowMs);
    if (delta.audio === null) return;
    this.#hasSentAudio = true;
    if (response !== this.#latest || this.#unansweredSpeechEndMs === null) return;
    this.#context.do({ type: "first_audio", afterMs: Math.max(0, nowMs - this.#unansweredSpeechEndMs) });
    this.#unansweredSpeechEndMs = null;
  }

  #cancel(response: RealtimeResponse, reason: "turn_detected" | "client_cancelled"): void {
    this.#finish(response);
    this.#context.do({ type: "cancel", responseId: response.id });
    response.interrupt(this.#context.nowMs());
    response.end({ type: "cancelled", reason });
  }

  #finish(response: RealtimeResponse): void {
    if (response !== this.#latest) {
      this.#outOfBand.delete(response.id);
      return;
    }
    this.#isResponding = false;
    this.#heldBack.length = 0;
    this.#heldEnd = null;
  }
}

/** Out-of-band and text responses may begin while the user speaks. */
function mayBegin(
  { request, isOutOfBand, hasInput }: PendingResponse,
  { isTranscribed, isUserSpeaking }: TurnState,
): boolean {
  if (isUserSpeaking && !isOutOfBand && request.settings.modality === "audio") return false;
  return hasInput || isTranscribed;
}
