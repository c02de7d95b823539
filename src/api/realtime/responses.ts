import type { ResponseOptions } from "../../contract/realtime/client-events.ts";
import { createItem } from "./conversation-items.ts";
import { RealtimeError } from "./realtime-error.ts";
import { RealtimeResponse, type ResponseDelta, type ResponseEnd } from "./realtime-response.ts";
import type { ResponseRequest, SessionContext } from "./session-events.ts";
import { updateSettings } from "./session-settings.ts";

/** Replies beside the conversation at a time: each takes a place for writing and one for speaking, which sessions share. */
const MAX_OUT_OF_BAND = 4;

/** Whether a reply may begin now. */
export interface TurnState {
  /** Whether the words of all committed turns are known. */
  readonly isTranscribed: boolean;
  /** Whether somebody speaks whom no reply may talk over. */
  readonly isUserSpeaking: boolean;
}

export interface ResponseTrigger extends TurnState {
  /** When the speech ended that it answers; `null` where it answers none. */
  readonly speechEndMs: number | null;
}

/** A reply that was asked for and is not begun. */
interface PendingResponse {
  readonly request: ResponseRequest;
  readonly isOutOfBand: boolean;
  /** Whether it answers what its client gave instead of the conversation. */
  readonly hasInput: boolean;
}

/** The replies of a session: the conversation's, one at a time, and those that are made beside it. */
export class Responses {
  readonly #context: SessionContext;
  readonly #conversationId: string;
  /** The conversation's newest; it may be over and still be played. */
  #latest: RealtimeResponse | null = null;
  /** Those before it that were still being played when it began, as where a call's output was soon there. Oldest first. */
  #stillPlaying: RealtimeResponse[] = [];
  #isResponding = false;
  /** Replies that the conversation is not told of. */
  readonly #outOfBand = new Map<string, RealtimeResponse>();
  /**
   * Replies that were asked for before the words of a committed turn were known, as a client does that commits turns itself,
   * or while somebody spoke, as one does whose function has its output then.
   */
  #pending: PendingResponse[] = [];
  /** The beginning of the newest, while it may be that its user goes on speaking; its end, if that has come. */
  readonly #heldBack: ResponseDelta[] = [];
  #heldEnd: ResponseEnd | null = null;
  /** When the speech ended that the newest answers, until its first sound is sent; `null`: it answers none. */
  #unansweredSpeechEndMs: number | null = null;
  #hasSentAudio = false;

  constructor(context: SessionContext, conversationId: string) {
    this.#context = context;
    this.#conversationId = conversationId;
  }

  /** Whether a reply of the conversation is being made. */
  get isResponding(): boolean {
    return this.#isResponding;
  }

  /** Whether a reply is heard, or will be: it is being made, or not played to its end. */
  get isRespondingOrPlaying(): boolean {
    return this.#isResponding || this.#isPlaying;
  }

  /** Whether some of a reply was sent that may be heard now. */
  get isPlaying(): boolean {
    return this.#isPlaying || (this.#isResponding && this.#latest?.hasAudio === true);
  }

  /** Whether sound of any reply was sent. */
  get hasSentAudio(): boolean {
    return this.#hasSentAudio;
  }

  /** Whether the beginning of a reply is held back. */
  get isHeldBack(): boolean {
    return this.#heldBack.length > 0;
  }

  /** When all of the conversation's that was sent will have been played. */
  get playbackEndMs(): number {
    return this.#latest?.playbackEndMs ?? 0;
  }

  /** Begins a reply; says whether it is one beside the conversation. Throws a {@link RealtimeError} where it cannot be. */
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
   * Begins what has waited and may begin now. What was said meanwhile it answers as well.
   *
   * @returns whether the conversation's reply begins, and answers the conversation
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
   * Some of a reply was made.
   *
   * @param mayGoOn whether its user may go on speaking: then no reply begins, until {@link release}
   */
  append(responseId: string, delta: ResponseDelta, mayUserContinue: boolean): void {
    const response = this.#findActive(responseId);
    if (response === null) return;
    const isHeldBack =
      response === this.#latest && !response.hasAudio && (mayUserContinue || this.isHeldBack);
    if (isHeldBack) this.#heldBack.push(delta);
    else this.#append(response, delta);
  }

  /** Nobody goes on speaking: what was held back is heard. @returns whether the conversation's reply ended with that */
  release(): boolean {
    const response = this.#active;
    const [held, end] = [this.#heldBack.splice(0), this.#heldEnd];
    this.#heldEnd = null;
    if (response === null) return false;
    for (const delta of held) this.#append(response, delta);
    return end !== null && this.end(response.id, end);
  }

  /** A reply was made to its end. @returns whether the conversation's ended with that */
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

  /** Somebody speaks into a reply: it ends, and what was not heard of it was not said. */
  interrupt(): void {
    const active = this.#active;
    for (const response of this.#playing) response.interrupt(this.#context.nowMs());
    if (active !== null) this.#cancel(active, "turn_detected");
  }

  /** @param id of the reply; absent: the conversation's. Throws a {@link RealtimeError} where none is under way */
  cancelByClient(id: string | undefined): void {
    const response = id === undefined ? this.#active : this.#findActive(id);
    if (response === null) {
      throw new RealtimeError("Cancellation failed: no active response found", {
        code: "response_cancel_not_active",
      });
    }
    this.#cancel(response, "client_cancelled");
  }

  get #active(): RealtimeResponse | null {
    return this.#isResponding ? this.#latest : null;
  }

  get #isPlaying(): boolean {
    return this.playbackEndMs > this.#context.nowMs();
  }

  /** The conversation's that have sound and may still be played. */
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
      throw new RealtimeError("a session that transcribes has no replies: open one of type realtime", {
        code: "invalid_value",
        param: "type",
      });
    }
    if (isOutOfBand && this.#outOfBand.size >= MAX_OUT_OF_BAND) {
      throw new RealtimeError(
        `${MAX_OUT_OF_BAND} replies beside the conversation are under way: wait for one`,
        {
          code,
        },
      );
    }
    if (this.#isResponding && !isOutOfBand) {
      throw new RealtimeError("a reply is under way: wait for its response.done, or cancel it", { code });
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

/** One beside the conversation talks over nobody, and nor does one in text alone. */
function mayBegin(
  { request, isOutOfBand, hasInput }: PendingResponse,
  { isTranscribed, isUserSpeaking }: TurnState,
): boolean {
  if (isUserSpeaking && !isOutOfBand && request.settings.modality === "audio") return false;
  return hasInput || isTranscribed;
}
