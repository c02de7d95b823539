/** A word of a reply and when its sound ends, in milliseconds from the reply's first sample. */
export interface OutputWord {
  readonly endMs: number;
  /** Where it ends in the reply's text, in code points. */
  readonly endsAt: number;
}

/**
 * The text of a reply as it is spoken, and how much of it was heard. Sound is sent ahead of its playing; without word of
 * the client's, it is taken for played since its first sample was sent.
 */
export class OutputAudio {
  /** Code points of the text that was sent. */
  readonly #text: string[] = [];
  readonly #words: OutputWord[] = [];
  #sentMs = 0;
  #firstSentAtMs: number | null = null;
  /** Milliseconds that were heard before it was cut; `null` while nothing has cut it. */
  #playedMs: number | null = null;
  #isReportedByClient = false;
  #isWhole = false;

  /** All that was sent as its text. */
  get text(): string {
    return this.#text.join("");
  }

  /** Milliseconds of its sound that were sent. */
  get sentMs(): number {
    return this.#sentMs;
  }

  addText(text: string): void {
    this.#text.push(...text);
  }

  addAudio(durationMs: number, words: readonly OutputWord[], nowMs: number): void {
    this.#firstSentAtMs ??= nowMs;
    this.#sentMs += durationMs;
    this.#words.push(...words);
  }

  /** All of its sound was sent. */
  complete(): void {
    this.#isWhole = true;
  }

  /** Milliseconds that are played by now, as far as can be told. */
  playedMs(nowMs: number): number {
    if (this.#playedMs !== null) return this.#playedMs;
    if (this.#firstSentAtMs === null) return 0;
    return Math.min(this.#sentMs, Math.max(0, nowMs - this.#firstSentAtMs));
  }

  /** When the last of it will have been played: it is cut where it was cut. */
  playbackEndMs(): number {
    return (this.#firstSentAtMs ?? 0) + (this.#playedMs ?? this.#sentMs);
  }

  /** It was cut: no more of it is heard than is played by now. */
  interrupt(nowMs: number): void {
    this.#playedMs ??= this.playedMs(nowMs);
  }

  /**
   * The client says how much was heard, which replaces what was reckoned here; of what it says the least counts.
   * @returns milliseconds that count
   */
  truncate(playedMs: number): number {
    const own = Math.max(0, Math.floor(Math.min(playedMs, this.#sentMs)));
    this.#playedMs = this.#isReportedByClient ? Math.min(own, this.#playedMs ?? own) : own;
    this.#isReportedByClient = true;
    return this.#playedMs;
  }

  /** The words that were heard: all, unless it was cut; else those that had ended by then. */
  playedText(): string {
    const playedMs = this.#playedMs;
    if (playedMs === null) return this.text;
    // A sentence's text comes with its first sound, so who has heard all that was sent may not have heard all of the text.
    const hasWords = this.#words.length > 0;
    if (playedMs >= this.#sentMs && (this.#isWhole || !hasWords)) return this.text;
    if (!hasWords) return this.#estimateText(playedMs);
    const last = this.#words.findLast(({ endMs }) => endMs <= playedMs);
    if (last === undefined) return "";
    // What is written right behind a word belongs to it: a comma, a full stop.
    let end = last.endsAt;
    while (end < this.#text.length && /[^\s\p{L}\p{N}]/u.test(this.#text[end]!)) end += 1;
    return this.#text.slice(0, end).join("");
  }

  /** Of a voice that tells no words: whole words, by their share of the time. */
  #estimateText(playedMs: number): string {
    const cut = this.#text.slice(0, Math.floor((this.#text.length * playedMs) / this.#sentMs)).join("");
    return cut.slice(0, Math.max(0, cut.lastIndexOf(" ")));
  }
}
