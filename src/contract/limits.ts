/** Maximum code points of text in a request or turn, without its marks. */
export const MAX_TEXT_CHARS = 8_000;

/** Maximum code points of `instructions` of `POST /v1/audio/speech`, and of `input` that is not streamed: OpenAI's. */
export const MAX_SPEECH_CHARS = 4_096;

/**
 * Maximum frames of 80 ms of such an input: 87 minutes, 1.4 times what the slowest known text takes ("W7%" repeated,
 * at the lowest speed).
 */
export const MAX_SPEECH_FRAMES = 65_536;

/** Maximum frames (80 ms) of a reply kept in memory: 11 minutes, more than prose takes at the lowest speed. */
export const MAX_WHOLE_SPEECH_FRAMES = 8_192;

/** Maximum lines of a dialogue, and maximum code points of its script, or of a streamed text: about two hours. */
export const MAX_DIALOGUE_LINES = 1_000;
export const MAX_SCRIPT_CHARS = 100_000;

/** Maximum speakers of a dialogue. */
export const MAX_DIALOGUE_SPEAKERS = 32;

/** Maximum code points of instructions to the writer. */
export const MAX_INSTRUCTIONS_CHARS = 2_000;

/** Maximum turns of a conversation, including the open one. */
export const MAX_TURNS = 64;

/** Maximum decoded bytes of a turn's audio: 25 MiB. */
export const MAX_TURN_AUDIO_BYTES = 25 * 1024 * 1024;

/** Range of `max_new_tokens`, in frames of 80 ms. */
export const MIN_NEW_TOKENS = 16;
export const MAX_NEW_TOKENS = 2_048;

/** The limits that a server enforces: `limits` of `GET /v1/info`. */
export interface Limits {
  readonly max_text_chars: number;
  /** Code points of `input` of `POST /v1/audio/speech`, and of one whose `wav` or `flac` is sent whole. */
  readonly max_speech_chars: number;
  readonly max_whole_speech_chars: number;
  readonly max_instructions_chars: number;
  readonly max_turns: number;
  readonly max_turn_audio_bytes: number;
  /** A recording to transcribe. */
  readonly max_recording_bytes: number;
  readonly max_recording_seconds: number;
  /** A recording of a voice: maximum bytes, minimum seconds, and the seconds that are kept. */
  readonly max_voice_bytes: number;
  readonly min_voice_seconds: number;
  readonly kept_voice_seconds: number;
  readonly max_body_bytes: number;
  readonly min_new_tokens: number;
  readonly max_new_tokens: number;
  /** How far a stream may be sent ahead of real-time playback; 0 means no limit. */
  readonly max_ahead_seconds: number;
  /**
   * Concurrent use per key: utterances, waiting requests, turns being written, recordings being transcribed, bytes of
   * bodies, audio and replies.
   */
  readonly key_max_utterances: number;
  readonly key_max_waiting: number;
  readonly key_max_writing: number;
  readonly key_max_hearing_recordings: number;
  readonly key_max_receiving_bytes: number;
  readonly key_max_audio_bytes: number;
  readonly key_max_reply_bytes: number;
  readonly key_max_voices: number;
}

/** Returns the length of a text in Unicode code points. */
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

/** Maximum code points of a speaker's name. */
export const MAX_SPEAKER_CHARS = 100;
