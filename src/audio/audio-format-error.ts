/**
 * Bytes that are not the audio they claim to be: the sender's mistake. The message is one plain sentence that
 * begins "undecodable audio: " and says what was wrong and roughly where.
 */
export class AudioFormatError extends Error {
  override readonly name = "AudioFormatError";

  constructor(problem: string) {
    super(`undecodable audio: ${problem}`);
  }
}
