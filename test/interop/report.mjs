// Tells what a client had, for it to be compared with what was spoken: a line of JSON each, and a file beside it.

import { writeFileSync } from "node:fs";

/** Where the server is, and its key. */
export const { INTEROP_URL: URL_V1, INTEROP_KEY: KEY } = process.env;
/** A WAV, 16 bits at 24 kHz, to be transcribed, and what is heard in it. */
export const { INTEROP_RECORDING: RECORDING, INTEROP_TRANSCRIPT: TRANSCRIPT } = process.env;
export const TEXT = "Good morning! It is twenty past seven, and the tea is ready. How was the trip?";

let files = 0;

/**
 * Speech that came. With a `rate` in Hz it is samples of 16 bits, which the client decoded; else a file. As many samples
 * as it `mayLack` the client loses itself at the end.
 */
export function speech(what, audio, { voice, format, text = TEXT, rate = 0, firstS = null, mayLack = 0 }) {
  const is_decoded = rate > 0;
  const file = `speech-${files++}.${is_decoded ? "raw" : format}`;
  writeFileSync(file, audio);
  const own = { lost_head: 0, may_lack: mayLack, may_add: 0 };
  tell(what, { kind: "speech", text, voice, format, file, is_decoded, rate, first_s: firstS, ...own });
}

/** A transcript that came of the recording; in the order in which they were asked for. */
export function transcript(what, text) {
  tell(what, { kind: "transcript", text, is_recorded: true });
}

/** A conversation that was held, as `user.mjs` reports it. */
export function conversation(what, report) {
  tell(what, { kind: "conversation", ...report });
}

/** Something that was looked at here, and is as it should be. */
export function passed(what) {
  tell(what, { kind: "passed" });
}

function tell(what, more) {
  console.log(JSON.stringify({ what, ...more }));
}
