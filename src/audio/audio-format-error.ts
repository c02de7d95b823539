/**
 * Bytes that are not the audio they claim to be: the sender's mistake. The message is one plain sentence that begins
 * "undecodable audio: " and says what is wrong, roughly where, and what to do if known.
 */
export class AudioFormatError extends Error {
  override readonly name = "AudioFormatError";
  readonly problem: string;
  /** Begins with "send". */
  readonly remedy: string | null;

  constructor(problem: string, remedy: string | null = null) {
    super(`undecodable audio: ${problem}${remedy === null ? "" : `: ${remedy}`}`);
    this.problem = problem;
    this.remedy = remedy;
  }
}
