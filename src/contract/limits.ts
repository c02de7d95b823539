/** Code points of text in one request or turn, at most. */
export const MAX_TEXT_CHARS = 8_000;

/** Code points of the input of one request of OpenAI's API for speech, and of its instructions, at most: as many as it takes itself. */
export const MAX_SPEECH_CHARS = 4_096;

/**
 * Frames of 80 ms that speech of such an input may have: 87 minutes. The text is the bound, and this is 1.4 times
 * what the slowest text takes that was found: "W7%" over and over, at the lowest speed.
 */
export const MAX_SPEECH_FRAMES = 65_536;

/** The same if it is kept in memory until it is complete: 11 minutes, more than what prose takes at the lowest speed. */
export const MAX_WHOLE_SPEECH_FRAMES = 8_192;

/** Code points of instructions to the writer in one request, at most. */
export const MAX_INSTRUCTIONS_CHARS = 2_000;

/** Turns in one conversation, the open one included, at most. */
export const MAX_TURNS = 64;

/** Bytes of one turn's audio once decoded from base64, at most: 25 MiB. */
export const MAX_TURN_AUDIO_BYTES = 25 * 1024 * 1024;

/** What `max_new_tokens` may be: frames of 80 ms. */
export const MIN_NEW_TOKENS = 16;
export const MAX_NEW_TOKENS = 2_048;

/** The caps a server enforces, as `GET /v1/info` publishes them under `limits`. */
export interface Limits {
  readonly max_text_chars: number;
  /** Of the input of `POST /v1/audio/speech`. */
  readonly max_speech_chars: number;
  readonly max_instructions_chars: number;
  readonly max_turns: number;
  readonly max_turn_audio_bytes: number;
  /** Of one recording to transcribe. */
  readonly max_recording_bytes: number;
  readonly max_recording_seconds: number;
  /** Of one recording of a voice: its bytes, the seconds that it must have, and those that are kept. */
  readonly max_voice_bytes: number;
  readonly min_voice_seconds: number;
  readonly kept_voice_seconds: number;
  readonly max_body_bytes: number;
  readonly min_new_tokens: number;
  readonly max_new_tokens: number;
  /** How far a stream may be sent ahead of real-time playback; 0 means no limit. */
  readonly max_ahead_seconds: number;
  /**
   * What one key may have at once: utterances, requests that wait, turns being written, recordings being heard, bytes of
   * bodies, audio, replies.
   */
  readonly key_max_utterances: number;
  readonly key_max_waiting: number;
  readonly key_max_writing: number;
  readonly key_max_hearing_recordings: number;
  readonly key_max_receiving_bytes: number;
  readonly key_max_audio_bytes: number;
  readonly key_max_reply_bytes: number;
  /** Voices that one key may have. */
  readonly key_max_voices: number;
}

/** The length of a text as the contract counts it: in Unicode code points. */
export function countChars(text: string): number {
  let count = text.length;
  for (let i = 0; i + 1 < text.length; i++) {
    const isPair = (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
    if (isPair) {
      count--;
      i++;
    }
  }
  return count;
}
