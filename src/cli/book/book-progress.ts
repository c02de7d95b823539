import { estimateSpeechS } from "../../serving/reply/synthesize-passages.ts";
import { onOneLine, type Screen } from "../terminal/command-io.ts";
import { clock } from "../terminal/progress.ts";

const REDRAWN_MS = 500;

/** Shows the progress of a long text: in one line that is redrawn on a terminal, else in a line per tenth. */
export class BookProgress {
  readonly #screen: Screen;
  readonly #totalChars: number | null;
  readonly #spokenChars: number | null;
  readonly #beganMs = performance.now();
  #drawnMs = Number.NEGATIVE_INFINITY;
  #tenths = 0;
  #firstChars = 0;
  #hasLine = false;

  /** Characters of the text, and how many of them are spoken; null if unknown. */
  constructor(
    screen: Screen,
    { totalChars, spokenChars }: { readonly totalChars: number | null; readonly spokenChars: number | null },
  ) {
    this.#screen = screen;
    this.#totalChars = totalChars;
    this.#spokenChars = spokenChars;
  }

  /** Announces the expected length. @param doneChars spoken by an earlier run */
  begin(doneChars: number, doneS: number): void {
    this.#firstChars = doneChars;
    if (doneChars > 0) this.#screen.write(`Going on after ${clock(doneS)} that were spoken before.\n`);
    else if (this.#spokenChars !== null)
      this.#screen.write(`About ${clock(estimateSpeechS(this.#spokenChars))} of speech.\n`);
  }

  show(doneChars: number, spokenS: number, chapter: string | null): void {
    const total = this.#totalChars;
    const share = total === null ? null : Math.min(1, doneChars / Math.max(1, total));
    const parts = [
      ...(share === null ? [] : [`${Math.floor(100 * share)} %`]),
      `${clock(spokenS)} spoken`,
      ...(share === null ? [] : this.#left(doneChars, total!)),
      ...(chapter === null ? [] : [onOneLine(this.#screen, chapter.slice(0, 40))]),
    ];
    if (this.#screen.isTTY === true) {
      const nowMs = performance.now();
      if (nowMs - this.#drawnMs < REDRAWN_MS) return;
      this.#drawnMs = nowMs;
      this.#hasLine = true;
      this.#eraseLine();
      this.#screen.write(parts.join(" | "));
      return;
    }
    const tenths = share === null ? 0 : Math.floor(10 * share);
    if (tenths > this.#tenths && tenths < 10) this.#screen.write(`${parts.join(", ")}\n`);
    this.#tenths = tenths;
  }

  end(): void {
    if (this.#hasLine) this.#eraseLine();
    this.#hasLine = false;
  }

  #eraseLine(): void {
    (this.#screen.raw ?? this.#screen).write("\r\u001b[K");
  }

  #left(doneChars: number, totalChars: number): string[] {
    const made = doneChars - this.#firstChars;
    if (made < 500) return [];
    const seconds = ((performance.now() - this.#beganMs) / 1_000) * ((totalChars - doneChars) / made);
    return [`${clock(seconds)} left`];
  }
}
