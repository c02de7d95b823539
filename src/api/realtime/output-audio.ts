/** A word and its end, in milliseconds from the reply's first sample. */
export interface OutputWord {
  readonly endMs: number;
  /** End in the reply's text, in code points. */
  readonly endsAt: number;
}

/**
 * The audio and transcript of a message, and how much of it was played. Audio is sent ahead of playback. Unless the
 * client reports otherwise, it counts as played from the time its first sample was sent.
 */
export class OutputAudio {
  readonly #text: string[] = [];
  readonly #words: OutputWord[] = [];
  #sentMs = 0;
  #firstSentAtMs: number | null = null;
  /** Milliseconds played before an interruption; `null` without one. */
  #playedMs: number | null = null;
  #isReportedByClient = false;
  #isWhole = false;

  get text(): string {
    return this.#text.join("");
  }

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

  complete(): void {
    this.#isWhole = true;
  }

  playedMs(nowMs: number): number {
    if (this.#playedMs !== null) return this.#playedMs;
    if (this.#firstSentAtMs === null) return 0;
    return Math.min(this.#sentMs, Math.max(0, nowMs - this.#firstSentAtMs));
  }

  playbackEndMs(): number {
    return (this.#firstSentAtMs ?? 0) + (this.#playedMs ?? this.#sentMs);
  }

  interrupt(nowMs: number): void {
    this.#playedMs ??= this.playedMs(nowMs);
  }

  /**
   * Sets the milliseconds played as the client reports them. They replace the estimate; of several reports the lowest
   * counts.
   * @returns the milliseconds that count
   */
  truncate(playedMs: number): number {
    const own = Math.max(0, Math.floor(Math.min(playedMs, this.#sentMs)));
    this.#playedMs = this.#isReportedByClient ? Math.min(own, this.#playedMs ?? own) : own;
    this.#isReportedByClient = true;
    return this.#playedMs;
  }

  /** Returns the text that was played: all of it, or after an interruption the words that had ended. */
  playedText(): string {
    const playedMs = this.#playedMs;
    if (playedMs === null) return this.text;
    // The text of a sentence is sent with its first audio, so the audio sent so far may not cover all of the text.
    const hasWords = this.#words.length > 0;
    if (playedMs >= this.#sentMs && (this.#isWhole || !hasWords)) return this.text;
    if (!hasWords) return this.#estimateText(playedMs);
    const last = this.#words.findLast(({ endMs }) => endMs <= playedMs);
    if (last === undefined) return "";
    // Punctuation after a word belongs to it.
    let end = last.endsAt;
    while (end < this.#text.length && /[^\s\p{L}\p{N}]/u.test(this.#text[end]!)) end += 1;
    return this.#text.slice(0, end).join("");
  }

  /** Without word times: whole words in proportion to the time played. */
  #estimateText(playedMs: number): string {
    const cut = this.#text.slice(0, Math.floor((this.#text.length * playedMs) / this.#sentMs)).join("");
    return cut.slice(0, Math.max(0, cut.lastIndexOf(" ")));
  }
}
