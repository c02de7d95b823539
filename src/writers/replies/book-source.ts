import type { Dialogue } from "../../model/writer.ts";
import { plainWords } from "../heard/said-before.ts";
import { actByForm, isAsked } from "../heard/turn-form.ts";
import { asksWhoSpeaks } from "./desk.ts";
import { ALL_LAYERS, answers, guesses, type Layers, mayOffer } from "./layers.ts";
import { remembered } from "./memory/remembered.ts";
import { type Embeds, Offers, type RankedOffer, TEACHING_WIDTH, WIDTH } from "./offers.ts";
import { type Offer, worthOf } from "./reckoning.ts";
import { type Act, neutralLines, type ReplyBook } from "./reply-book.ts";
import type { ReadyReply, ReplyLayer, ReplySource } from "./reply-source.ts";
import { sumOverTurns } from "./sums/amounts.ts";
import { answerSum } from "./sums/sums.ts";
import { type Talk, talkOf } from "./talk.ts";
import { isGladOfIt, mayBe } from "./tone.ts";

/** Replies out of a book. */
export class BookSource implements ReplySource {
  readonly #book: ReplyBook;
  readonly #free: () => Promise<void>;
  readonly #layersFor: (dialogue: Dialogue) => Layers;
  readonly #acts: ReadonlyMap<string, Act>;
  readonly #offers: Offers;
  /** What is known of a dialogue while it is replied to. */
  readonly #talks = new WeakMap<Dialogue, Talk | null>();
  readonly #known = new WeakMap<Dialogue, readonly RankedOffer[]>();

  constructor(
    book: ReplyBook,
    embed: Embeds,
    free: () => Promise<void>,
    layersFor: (dialogue: Dialogue) => Layers = () => ALL_LAYERS,
  ) {
    this.#book = book;
    this.#free = free;
    this.#layersFor = layersFor;
    this.#acts = new Map(book.acts.map((act) => [act.name, act]));
    this.#offers = new Offers(book, embed);
  }

  async reply(dialogue: Dialogue, signal: AbortSignal): Promise<ReadyReply | null> {
    signal.throwIfAborted();
    const talk = this.#talkOf(dialogue);
    if (talk === null) return null;
    const layers = this.#layersFor(dialogue);
    if (talk.newest === null) {
      if (!answers(layers, "unheard")) return null;
      return this.#line("unheard", talk) ?? this.#again("unheard", talk);
    }
    const exact =
      [talk.newest, ...talk.whole.turns].map(answerSum).find((answer) => answer !== null) ??
      sumOverTurns(dialogue.history, dialogue.speaker) ??
      remembered(dialogue.history, dialogue.speaker, talk);
    // What is worked out is as right the second time.
    if (exact !== null && layers.exact) return { layer: "exact", text: exact };
    const form = actByForm(talk.newest);
    // Whether this is a machine is always told, in a scene, too.
    if (form === "identity" || form === "garbled")
      return answers(layers, form) ? this.#line(form, talk) : null;
    if (!guesses(layers)) return null;

    const all = await this.#offersTo(dialogue, talk, signal);
    const offers = all.filter((one) => mayOffer(layers, one, talk));
    // What a turn's form asks for is answered by a line, unless it is only guessed and a reply answered all but the same turn.
    const isTheSame = offers.some(({ origin, nearness }) => origin === "found" && nearness >= THE_SAME);
    const isPersona = dialogue.instructions !== undefined && asksWhoSpeaks(talk.newest);
    // A word that they put right themselves is taken up.
    const ofForm =
      offers[0]?.origin === "corrected"
        ? offers[0]
        : ((isPersona ? offers.find(({ origin }) => origin === "desk") : undefined) ??
          offers.find(({ origin }) => origin === "form"));
    const best =
      form === null && isTheSame ? offers.find(({ origin }) => origin !== "form") : (ofForm ?? offers[0]);
    if (best === undefined) return null;
    // The small model follows no instructions, and would promise what a desk has not got.
    const isReady =
      best.origin === "form" ||
      offers.some(({ origin }) => origin === "limit") ||
      dialogue.instructions !== undefined ||
      best.worth >= worthOf(writtenOffer("", talk), talk, this.#book.reckoning);
    return isReady ? best : null;
  }

  /** All that may be said to the newest turn, for teaching how to reckon with them. */
  async allOffers(dialogue: Dialogue, signal: AbortSignal): Promise<readonly Offer[]> {
    const talk = this.#talkOf(dialogue);
    return talk === null || talk.newest === null
      ? []
      : await this.#offers.to(talk, dialogue, TEACHING_WIDTH, signal);
  }

  forModel(dialogue: Dialogue): Dialogue {
    // A larger model understands what a turn leans on.
    if (!this.#layersFor(dialogue).areReckoned) return dialogue;
    const { isFilledIn, turns: [whole] = [] } = this.#talkOf(dialogue)?.whole ?? {};
    return isFilledIn !== true || whole === undefined
      ? dialogue
      : {
          ...dialogue,
          history: [{ speaker: dialogue.history.at(-1)?.speaker ?? "", text: whole, audio: null }],
        };
  }

  async instead(dialogue: Dialogue, written: string | null, signal: AbortSignal): Promise<ReadyReply | null> {
    const talk = this.#talkOf(dialogue);
    if (talk === null || talk.newest === null) return null;
    const layers = this.#layersFor(dialogue);
    // What a larger model wrote is not reckoned with, since what was learnt is how good the small one is.
    if (!layers.areReckoned && written !== null) return null;
    if (!guesses(layers)) return this.#plainLine(talk);
    const best = (await this.#offersTo(dialogue, talk, signal)).find((one) => mayOffer(layers, one, talk));
    if (written === null) return best ?? this.#plainLine(talk);
    if (best === undefined) return null;
    const worth = worthOf(writtenOffer(written, talk), talk, this.#book.reckoning);
    // Nobody is glad after a sorrow.
    return best.worth > worth || (best.isGladless && isGladOfIt(written)) ? best : null;
  }

  isCautious(dialogue: Dialogue): boolean {
    return this.#layersFor(dialogue).areReckoned;
  }

  close(): Promise<void> {
    return this.#free();
  }

  #talkOf(dialogue: Dialogue): Talk | null {
    const known = this.#talks.get(dialogue);
    if (known !== undefined) return known;
    const talk = talkOf(dialogue);
    this.#talks.set(dialogue, talk);
    return talk;
  }

  async #offersTo(dialogue: Dialogue, talk: Talk, signal: AbortSignal): Promise<readonly RankedOffer[]> {
    const offers = this.#known.get(dialogue) ?? (await this.#offers.to(talk, dialogue, WIDTH, signal));
    this.#known.set(dialogue, offers);
    return offers;
  }

  #line(act: string, talk: Talk): ReadyReply | null {
    const { lines = [], polarity = "plain" } = this.#acts.get(act) ?? {};
    return mayBe(polarity, talk.newest) ? this.#ready("line", lines, talk) : null;
  }

  /** A line of a kind that was heard before: where all were, that is better than anything else. */
  #again(act: string, { chance }: Talk): ReadyReply | null {
    const lines = this.#acts.get(act)?.lines ?? [];
    const text = lines[chance % lines.length];
    return text === undefined ? null : { layer: "line", text };
  }

  /** What may be said to anything. */
  #plainLine(talk: Talk): ReadyReply | null {
    return this.#ready(
      "line",
      isAsked(talk.newest) ? this.#book.forms.asked : neutralLines(this.#book),
      talk,
    );
  }

  /** One of these that was not heard yet. */
  #ready(layer: ReplyLayer, among: readonly string[], { heard, chance }: Talk): ReadyReply | null {
    const fresh = among.filter((text) => !heard.has(plainWords(text)));
    const text = fresh[chance % fresh.length];
    return text === undefined ? null : { layer, text };
  }
}

/** What the language model writes, or whatever it may write. */
function writtenOffer(text: string, { whole }: Talk): Offer {
  return { origin: "model", text, nearness: whole.isFilledIn ? 1 : 0, context: 0 };
}

/** From which likeness a turn is the same as one that was answered. */
const THE_SAME = 0.88;
