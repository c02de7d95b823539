// Files of replies, made in the page by the server's encoders. Loaded when the first is saved.

import { cuesOf, dialogueCues, toSrt, toVtt } from "./captions/captions.js";
import { encodeWav } from "./client/antiphon.js";

/** Returns a file of a reply, `{ frames, text, words }`, by its extension: wav, mp3, opus, flac, vtt or srt. */
export async function fileOf(kind, { frames, text, words }) {
  if (kind === "wav") return new Blob([encodeWav(frames)], { type: "audio/wav" });
  if (kind === "vtt") return new Blob([toVtt(cuesOf(words, text))], { type: "text/vtt" });
  if (kind === "srt") return new Blob([toSrt(cuesOf(words, text))], { type: "application/x-subrip" });
  const [type, open] = ENCODERS[kind];
  const encoder = await open();
  const parts = [...frames.map((pcm) => encoder.push(pcm)), encoder.end()];
  const file = new Blob([encoder.finishedHead(), ...parts], { type });
  encoder.free();
  return file;
}

/** Returns WebVTT of a dialogue, with the speaker of each caption. `lines` are those of `dialogue.started`. */
export const dialogueVtt = (script, { words, lines }) =>
  new Blob([toVtt(dialogueCues(words, script, lines))], { type: "text/vtt" });

const ENCODERS = {
  mp3: ["audio/mpeg", async () => (await import("./audio/encode/mp3.js")).mp3Encoder(openLame)],
  opus: [
    "audio/ogg",
    async () => {
      const [{ oggOpusEncoder }, { createEncoder }] = await Promise.all([
        import("./audio/encode/ogg-opus.js"),
        import("./libopus.js"),
      ]);
      return oggOpusEncoder(crypto.getRandomValues(new Uint32Array(1))[0], createEncoder);
    },
  ],
  // Browsers have no MD5; the checksum is optional.
  flac: ["audio/flac", async () => (await import("./audio/encode/flac.js")).flacEncoder(null)],
};

/** Loads the MP3 encoder, which is larger than the page. */
async function openLame() {
  const { createEncoder } = await import("./lame.js");
  const code = await (await fetch("/playground/lame.wasm")).arrayBuffer();
  return createEncoder("audio/mpeg", code);
}
