// Transcripts for turns that have a recording and no text. Independent of the page.
import { MAX_TEXT_CHARS } from "./conversation.js";

/** Message about a clip by its state. */
export const NOTES = {
  waiting: "Transcribing…",
  understood: "Transcribed from the recording. Correct or clear it.",
  wordless: "No words were recognised. The turn stays sound alone.",
  failed: "The transcription failed. The turn stays sound alone.",
  written: "",
};

/**
 * Transcribes each clip of turns without text once. Text that the user writes or clears is never replaced. The clip of
 * the last turn is skipped.
 */
export class ClipTranscriber {
  #ask;
  #onChange;
  /** State of each turn's clip: `{ audio, state, isAsked, leaving }`. */
  #clips = new Map();

  /**
   * @param ask called with a clip and a signal; resolves to the transcript; errors only set the state `failed`
   * @param onChange called with a turn whose text or state changed without the user
   */
  constructor(ask, onChange) {
    [this.#ask, this.#onChange] = [ask, onChange];
  }

  /** Returns the state of a turn's clip, a name of `NOTES`; undefined if it has none. */
  stateOf = (turn) => this.#clips.get(turn)?.state;

  /** Aborts transcripts of removed clips and requests those of new ones. Call it after every change of the turns. */
  follow(turns) {
    const past = turns.slice(0, -1);
    for (const [turn, clip] of this.#clips) {
      const isSame = turn.audio === clip.audio && turns.includes(turn);
      if (isSame && (clip.state !== "waiting" || past.includes(turn))) continue;
      this.#forget(turn);
      // An unedited transcript goes with its clip.
      if (!isSame && clip.state === "understood") turn.text = "";
    }
    for (const turn of past) {
      if (turn.audio === null || this.#clips.has(turn)) continue;
      if (turn.text.trim() === "") void this.#hear(turn);
      else this.wrote(turn);
    }
  }

  /** Keeps the text of a turn from now on: the user wrote or cleared it. */
  wrote(turn) {
    const isAsked = this.#clips.get(turn)?.isAsked ?? false;
    this.#forget(turn);
    // Its text was older than its clip, which is still to be transcribed.
    if (turn.audio === null || (turn.text.trim() === "" && !isAsked)) return;
    this.#keep(turn, "written", isAsked);
  }

  /** Takes a transcript from another source, unless the turn has text. */
  understood(turn, audio, text) {
    const state = this.stateOf(turn);
    if (turn.audio !== audio || turn.text.trim() !== "" || state === "written") return;
    if (text.trim() === "") return;
    this.#forget(turn);
    this.#take(turn, text);
  }

  /** Allows failed transcripts to be requested again. */
  retry() {
    for (const [turn, { state }] of this.#clips) if (state === "failed") this.#clips.delete(turn);
  }

  async #hear(turn) {
    const clip = this.#keep(turn, "waiting");
    let text = null;
    try {
      text = await this.#ask(clip.audio, clip.leaving.signal);
    } catch {
      // Reported below as the state `failed`.
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
