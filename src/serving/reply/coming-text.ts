import type { TextPiece } from "../../core/marked-text.ts";
import type { WriterTokens } from "../../core/writer.ts";

/** Words that come while they are spoken. */
export interface ComingText {
  /** Who is waited for where they do not come, for messages: `the writer`. */
  readonly from: string;
  /** Whether further words are being waited for just now. */
  readonly isWriting: boolean;
  /** Whether it is over and there were no words: only calls of functions. */
  readonly isWordless?: boolean;
  /** What a writer has taken up to the sentence that was last asked for; absent or `null` where nobody counts. */
  readonly tokens?: WriterTokens | null;
  /** Waits for the first sentence. Throws where none comes. Once, and before {@link ComingText.pieces}. */
  begin(): Promise<void>;
  /**
   * Whole sentences as they come, each with the space that parts it from the one before. Can be taken once.
   *
   * @param onWait a further sentence is waited for from now on
   */
  pieces(onWait: () => void): AsyncGenerator<TextPiece, void, void>;
  /** What a reply's `meta` says of its writing; `null` where nobody wrote. */
  meta(): Record<string, unknown> | null;
  /** Nobody takes any more. More than once is harmless. */
  release(): void;
}
