/** What a request takes. */
export const MAX_TURNS = 64;
export const MAX_TEXT_CHARS = 8_000;

/** The conversation, oldest first: `{ speaker, text, audio: null | { name, durationS, wav, base64 } }`. */
export const turns = [];

/** Puts other turns, `{ speaker, text }`, in the place of those that are there. */
export function setTurns(others) {
  turns.splice(0, turns.length, ...others.map(({ speaker, text }) => ({ speaker, text, audio: null })));
}

/** The turn that is spoken: the last one, whose audio does not count. */
export const openTurn = () => turns.at(-1);

/** The conversation as a request has it. `soundOf` gives what stands for a clip, by the turn's index. */
export const conversation = (soundOf = ({ base64 }) => base64) =>
  turns.map((turn, index) => ({
    speaker: turn.speaker,
    ...(turn.text.trim() === "" ? {} : { text: turn.text }),
    ...(turn.audio === null || turn === openTurn() ? {} : { audio_wav_b64: soundOf(turn.audio, index) }),
  }));
