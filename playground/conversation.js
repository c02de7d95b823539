/** Limits of a request. */
export const MAX_TURNS = 64;
export const MAX_TEXT_CHARS = 8_000;

/** The conversation, oldest first: `{ speaker, text, audio: null | { name, durationS, wav, base64 } }`. */
export const turns = [];

/** Replaces the turns by others, `{ speaker, text }`. */
export function setTurns(others) {
  turns.splice(0, turns.length, ...others.map(({ speaker, text }) => ({ speaker, text, audio: null })));
}

/** Returns the turn to speak: the last one. Its audio is not sent. */
export const openTurn = () => turns.at(-1);

/** Returns the conversation of a request. `soundOf` returns the value for a clip, by the turn's index. */
export const conversation = (soundOf = ({ base64 }) => base64) =>
  turns.map((turn, index) => ({
    speaker: turn.speaker,
    ...(turn.text.trim() === "" ? {} : { text: turn.text }),
    ...(turn.audio === null || turn === openTurn() ? {} : { audio_wav_b64: soundOf(turn.audio, index) }),
  }));
