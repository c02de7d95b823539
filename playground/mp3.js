// MP3 files of what was heard, made in the page by the encoder that the server uses too.

/** An MP3 of 128 kb/s from pieces of 16-bit PCM of one rate in order. `load` gives the encoder's maker and its code. */
export async function encodeMp3(pieces, sampleRate, load = fromServer) {
  const { createEncoder, code } = await load();
  const encoder = await createEncoder("audio/mpeg", code);
  encoder.configure({ channels: 1, sampleRate, bitrate: 128 });
  const floats = (pcm) => Float32Array.from(pcm, (sample) => Math.max(-1, sample / 32_767));
  // What the encoder gives are views into its memory.
  const parts = pieces.map((pcm) => encoder.encode([floats(pcm)]).slice());
  return new Blob([...parts, encoder.finalize().slice()], { type: "audio/mpeg" });
}

/** Fetched when the first MP3 is wanted: it is larger than all of the page. */
async function fromServer() {
  const { createEncoder } = await import("./lame.js");
  const code = await (await fetch("/playground/lame.wasm")).arrayBuffer();
  return { createEncoder, code };
}
