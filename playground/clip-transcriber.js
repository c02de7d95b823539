// What is understood of turns that are sound alone, without a page.
import { MAX_TEXT_CHARS } from "./conversation.js";

/** What is said of a clip, by what became of it; where the user wrote, nothing. */
export const NOTES = {
  waiting: "Listening for what is said…",
  understood: "Understood from the sound: correct it, or clear it.",
  wordless: "No words were made out, so it stays sound alone.",
  failed: "It could not be put into words, so it stays sound alone.",
  written: "",
};

/**
 * Suggests words for turns that have a clip and no text, each clip once. What the user writes or clears is the user's:
 * nothing is put in its place. Where the last turn is spoken, its clip is not heard.
 */
export class ClipTranscriber {
  #ask;
  #onChange;
  /** What became of each turn's clip: `{ audio, state, isAsked, leaving }`. */
  #clips = new Map();

  /**
   * @param ask told a clip and a signal, answers what is said in it; whatever it throws makes no noise
   * @param onChange called with a turn whose words or state changed by themselves
   */
  constructor(ask, onChange) {
    [this.#ask, this.#onChange] = [ask, onChange];
  }

  /** What became of the clip of a turn: a name of `NOTES`, or undefined where none was looked at. */
  stateOf = (turn) => this.#clips.get(turn)?.state;

  /** Gives up what is no longer there, and asks for what is new. Call it when turns, clips or texts came or went. */
  follow(turns) {
    const past = turns.slice(0, -1);
    for (const [turn, clip] of this.#clips) {
      const isSame = turn.audio === clip.audio && turns.includes(turn);
      if (isSame && (clip.state !== "waiting" || past.includes(turn))) continue;
      this.#forget(turn);
      // A suggestion that was left as it is goes with its clip.
      if (!isSame && clip.state === "understood") turn.text = "";
    }
    for (const turn of past) {
      if (turn.audio === null || this.#clips.has(turn)) continue;
      if (turn.text.trim() === "") void this.#hear(turn);
      else this.wrote(turn);
    }
  }

  /** The user wrote the text of a turn, or cleared what was suggested: from now on it stays as it is. */
  wrote(turn) {
    const isAsked = this.#clips.get(turn)?.isAsked ?? false;
    this.#forget(turn);
    // Without the words that stood there before its clip came, a turn is sound alone for the first time.
    if (turn.audio === null || (turn.text.trim() === "" && !isAsked)) return;
    this.#keep(turn, "written", isAsked);
  }

  /** Somebody else understood this in the clip of a turn; it is taken where the turn has no words of its own. */
  understood(turn, audio, text) {
    const state = this.stateOf(turn);
    if (turn.audio !== audio || turn.text.trim() !== "" || state === "written") return;
    if (text.trim() === "") return;
    this.#forget(turn);
    this.#take(turn, text);
  }

  /** Lets clips that could not be heard be asked for again. */
  retry() {
    for (const [turn, { state }] of this.#clips) if (state === "failed") this.#clips.delete(turn);
  }

  async #hear(turn) {
    const clip = this.#keep(turn, "waiting");
    let text = null;
    try {
      text = await this.#ask(clip.audio, clip.leaving.signal);
    } catch {
      // Said quietly below: the turn is as good as it was.
    }
    if (clip.leaving.signal.aborted) return;
    if (typeof text !== "string") this.#keep(turn, "failed");
    else if (text.trim() === "") this.#keep(turn, "wordless");
    else return this.#take(turn, text);
    this.#onChange(turn);
  }

  #take(turn, text) {
    turn.text = text.trim().slice(0, MAX_TEXT_CHARS);
    this.#keep(turn, "understood");
    this.#onChange(turn);
  }

  #keep(turn, state, isAsked = true) {
    const clip = { audio: turn.audio, state, isAsked, leaving: new AbortController() };
    this.#clips.set(turn, clip);
    return clip;
  }

  #forget(turn) {
    this.#clips.get(turn)?.leaving.abort();
    this.#clips.delete(turn);
  }
}
