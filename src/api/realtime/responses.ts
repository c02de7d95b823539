import type { ResponseOptions } from "../../contract/realtime/client-events.ts";
import { type Item, itemOf } from "./conversation-items.ts";
import { RealtimeError } from "./realtime-error.ts";
import { type ReplyEnd, Response, type Spoken } from "./response.ts";
import type { ResponseRequest, SessionEffect } from "./session-events.ts";
import { type SessionSettings, updated } from "./session-settings.ts";

/** Replies beside the conversation at a time: each takes a place for writing and one for speaking, which sessions share. */
const MAX_BESIDE = 4;

export interface RepliesParts {
  readonly conversationId: string;
  /** A new id that begins so. */
  readonly newId: (prefix: string) => string;
  readonly settings: () => SessionSettings;
  /** The conversation's, oldest first. */
  readonly items: () => readonly Item[];
  /** Adds an item to the conversation; returns the id of the one before it. */
  readonly add: (item: Item) => string | null;
  /** Of a clock that never goes back. */
  readonly nowMs: () => number;
  readonly do: (effect: SessionEffect) => void;
}

/** Whether a reply may begin now. */
export interface Floor {
  /** Whether the words of all committed turns are known. */
  readonly isHeardOut: boolean;
  /** Whether somebody speaks whom no reply may talk over. */
  readonly isTaken: boolean;
}

export interface ReplyOptions extends Floor {
  /** When the speech ended that it answers; `null` where it answers none. */
  readonly spokeUntilMs: number | null;
}

/** A reply that was asked for and is not begun. */
interface Waiting {
  readonly request: ResponseRequest;
  readonly isBeside: boolean;
  /** Whether it answers what its client gave instead of the conversation. */
  readonly hasInput: boolean;
}

/** The replies of a session: the conversation's, one at a time, and those that are made beside it. */
export class Replies {
  readonly #parts: RepliesParts;
  /** The conversation's newest; it may be over and still be played. */
  #newest: Response | null = null;
  /** Those before it that were still being played when it began, as where a call's output was soon there. Oldest first. */
  #earlier: Response[] = [];
  #isResponding = false;
  /** Replies that the conversation is not told of. */
  readonly #beside = new Map<string, Response>();
  /**
   * Replies that were asked for before the words of a committed turn were known, as a client does that commits turns itself,
   * or while somebody spoke, as one does whose function has its output then.
   */
  #waiting: Waiting[] = [];
  /** The beginning of the newest, while it may be that its user goes on speaking; its end, if that has come. */
  readonly #heldBack: Spoken[] = [];
  #heldEnd: ReplyEnd | null = null;
  /** When the speech ended that the newest answers, until its first sound is sent; `null`: it answers none. */
  #unansweredSinceMs: number | null = null;
  #hasSounded = false;

  constructor(parts: RepliesParts) {
    this.#parts = parts;
  }

  /** Whether a reply of the conversation is being made. */
  get isResponding(): boolean {
    return this.#isResponding;
  }

  /** Whether a reply is heard, or will be: it is being made, or not played to its end. */
  get isAudible(): boolean {
    return this.#isResponding || this.#isPlayed;
  }

  /** Whether some of a reply was sent that may be heard now. */
  get isHeard(): boolean {
    return this.#isPlayed || (this.#isResponding && this.#newest?.hasSound === true);
  }

  /** Whether sound of any reply was sent. */
  get hasSounded(): boolean {
    return this.#hasSounded;
  }

  /** Whether the beginning of a reply is held back. */
  get isHeldBack(): boolean {
    return this.#heldBack.length > 0;
  }

  /** When all of the conversation's that was sent will have been played. */
  get playedAtMs(): number {
    return this.#newest?.playedAtMs ?? 0;
  }

  /** Begins a reply; says whether it is one beside the conversation. Throws a {@link RealtimeError} where it cannot be. */
  create(options: ResponseOptions, { spokeUntilMs, ...floor }: ReplyOptions): boolean {
    const { newId, conversationId, add } = this.#parts;
    const isBeside = options.conversation === "none";
    this.#refuse(isBeside);
    const { instructions, output_modalities, max_output_tokens, tools, tool_choice } = options;
    const changes = { instructions, output_modalities, max_output_tokens, tools, tool_choice };
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const settings = updated(this.#parts.settings(), given, false, "response");
    const items = options.input?.map((item) => itemOf(item, () => newId("item_"))) ?? [
      ...this.#parts.items(),
    ];
    const response = new Response({
      id: newId("resp_"),
      itemId: newId("item_"),
      settings,
      conversationId: isBeside ? null : conversationId,
      metadata: options.metadata,
      playedBeforeMs: () =>
        isBeside ? 0 : Math.max(0, ...this.#earlier.map(({ playedAtMs }) => playedAtMs)),
      send: (event) => this.#parts.do({ type: "send", event }),
      add: (item) => (isBeside ? null : add(item)),
    });
    if (isBeside) {
      this.#beside.set(response.id, response);
    } else {
      this.#isResponding = true;
      this.#earlier = this.#played;
      this.#newest = response;
      this.#unansweredSinceMs = spokeUntilMs;
    }
    response.begin();
    const request = { responseId: response.id, items, settings };
    const hasInput = options.input !== undefined;
    const asked: Waiting = { request, isBeside, hasInput };
    if (mayBegin(asked, floor)) this.#parts.do({ type: "respond", request });
    else this.#waiting.push(asked);
    return isBeside;
  }

  /**
   * Begins what has waited and may begin now. What was said meanwhile it answers as well.
   *
   * @returns whether the conversation's reply begins, and answers the conversation
   */
  beginWaiting(floor: Floor): boolean {
    if (this.#waiting.length === 0) return false;
    const waiting = this.#waiting.filter(({ request }) => this.#underWay(request.responseId) !== null);
    this.#waiting = waiting.filter((each) => !mayBegin(each, floor));
    const begun = waiting.filter((each) => mayBegin(each, floor));
    for (const { request, hasInput } of begun) {
      const items = hasInput ? request.items : [...this.#parts.items()];
      this.#parts.do({ type: "respond", request: { ...request, items } });
    }
    return begun.some(({ isBeside, hasInput }) => !isBeside && !hasInput);
  }

  /**
   * Some of a reply was made.
   *
   * @param mayGoOn whether its user may go on speaking: then no reply begins, until {@link release}
   */
  say(responseId: string, spoken: Spoken, mayGoOn: boolean): void {
    const response = this.#underWay(responseId);
    if (response === null) return;
    const isHeldBack = response === this.#newest && !response.hasSound && (mayGoOn || this.isHeldBack);
    if (isHeldBack) this.#heldBack.push(spoken);
    else this.#say(response, spoken);
  }

  /** Nobody goes on speaking: what was held back is heard. @returns whether the conversation's reply ended with that */
  release(): boolean {
    const response = this.#active;
    const [held, end] = [this.#heldBack.splice(0), this.#heldEnd];
    this.#heldEnd = null;
    if (response === null) return false;
    for (const spoken of held) this.#say(response, spoken);
    return end !== null && this.end(response.id, end);
  }

  /** A reply was made to its end. @returns whether the conversation's ended with that */
  end(responseId: string, end: ReplyEnd): boolean {
    const response = this.#underWay(responseId);
    if (response === null) return false;
    const isOfConversation = response === this.#newest;
    if (isOfConversation && this.isHeldBack) {
      this.#heldEnd = end;
      return false;
    }
    this.#over(response);
    response.end(end);
    return isOfConversation;
  }

  /** Somebody speaks into a reply: it ends, and what was not heard of it was not said. */
  interrupt(): void {
    const active = this.#active;
    for (const response of this.#played) response.cut(this.#parts.nowMs());
    if (active !== null) this.#cancel(active, "turn_detected");
  }

  /** @param id of the reply; absent: the conversation's. Throws a {@link RealtimeError} where none is under way */
  cancelByClient(id: string | undefined): void {
    const response = id === undefined ? this.#active : this.#underWay(id);
    if (response === null) {
      throw new RealtimeError("Cancellation failed: no active response found", {
        code: "response_cancel_not_active",
      });
    }
    this.#cancel(response, "client_cancelled");
  }

  get #active(): Response | null {
    return this.#isResponding ? this.#newest : null;
  }

  get #isPlayed(): boolean {
    return this.playedAtMs > this.#parts.nowMs();
  }

  /** The conversation's that have sound and may still be played. */
  get #played(): Response[] {
    const all = this.#newest === null ? this.#earlier : [...this.#earlier, this.#newest];
    return all.filter((response) => response.hasSound && response.playedAtMs > this.#parts.nowMs());
  }

  #underWay(id: string): Response | null {
    return this.#active?.id === id ? this.#active : (this.#beside.get(id) ?? null);
  }

  #refuse(isBeside: boolean): void {
    const code = "conversation_already_has_active_response";
    if (this.#parts.settings().type === "transcription") {
      throw new RealtimeError("a session that transcribes has no replies: open one of type realtime", {
        code: "invalid_value",
        param: "type",
      });
    }
    if (isBeside && this.#beside.size >= MAX_BESIDE) {
      throw new RealtimeError(`${MAX_BESIDE} replies beside the conversation are under way: wait for one`, {
        code,
      });
    }
    if (this.#isResponding && !isBeside) {
      throw new RealtimeError("a reply is under way: wait for its response.done, or cancel it", { code });
    }
  }

  #say(response: Response, spoken: Spoken): void {
    const nowMs = this.#parts.nowMs();
    response.say(spoken, nowMs);
    if (spoken.sound === null) return;
    this.#hasSounded = true;
    if (response !== this.#newest || this.#unansweredSinceMs === null) return;
    this.#parts.do({ type: "answered", afterMs: Math.max(0, nowMs - this.#unansweredSinceMs) });
    this.#unansweredSinceMs = null;
  }

  #cancel(response: Response, reason: "turn_detected" | "client_cancelled"): void {
    this.#over(response);
    this.#parts.do({ type: "cancel", responseId: response.id });
    response.cut(this.#parts.nowMs());
    response.end({ type: "cancelled", reason });
  }

  #over(response: Response): void {
    if (response !== this.#newest) {
      this.#beside.delete(response.id);
      return;
    }
    this.#isResponding = false;
    this.#heldBack.length = 0;
    this.#heldEnd = null;
  }
}

/** One beside the conversation talks over nobody, and nor does one in text alone. */
function mayBegin({ request, isBeside, hasInput }: Waiting, { isHeardOut, isTaken }: Floor): boolean {
  if (isTaken && !isBeside && request.settings.modality === "audio") return false;
  return hasInput || isHeardOut;
}
