// What crosses the wire, without a page: events, samples, WAV files, a line for the shell.

export const SAMPLE_RATE_HZ = 24_000;

/** Server-sent events of a stream of bytes, however it is cut, as `{ event, data }`; comments are skipped. */
export async function* readEvents(chunks) {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split(/\r?\n\r?\n/);
    text = blocks.pop();
    for (const block of blocks) {
      const fields = [...block.matchAll(/^(event|data): ?(.*?)\r?$/gm)];
      const data = fields.filter(([, name]) => name === "data").map(([, , value]) => value);
      const event = fields.find(([, name]) => name === "event")?.[2] ?? "message";
      if (data.length > 0) yield { event, data: JSON.parse(data.join("\n")) };
    }
  }
}

/** 16-bit PCM from base64. Wherever browsers run, integers are little-endian, as they are on the wire. */
export function pcmFromBase64(base64) {
  return new Int16Array(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)).buffer);
}

/** A WAV file of 16-bit mono PCM at 24 kHz, from pieces in order. */
export function encodeWav(pieces) {
  const bytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  const file = new Uint8Array(44 + bytes);
  // RIFF, WAVE, "fmt " and data read as little-endian numbers; PCM, 1 channel; 2 bytes a frame, 16 bits.
  const [riff, wave, fmt, data] = [0x46464952, 0x45564157, 0x20746d66, 0x61746164];
  const rates = [SAMPLE_RATE_HZ, 2 * SAMPLE_RATE_HZ];
  new Uint32Array(file.buffer, 0, 11).set([
    riff,
    36 + bytes,
    wave,
    fmt,
    16,
    0x10001,
    ...rates,
    0x100002,
    data,
    bytes,
  ]);
  let at = 22;
  for (const piece of pieces) {
    new Int16Array(file.buffer).set(piece, at);
    at += piece.length;
  }
  return file;
}

/** Base64 of bytes, in pieces, since a call takes only so many arguments. */
export function toBase64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8_192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}

/** The form that asks what is said in a WAV file. */
export function transcriptionForm(wav) {
  const form = new FormData();
  form.append("model", "whisper-1");
  form.append("response_format", "json");
  form.append("file", new Blob([wav], { type: "audio/wav" }), "turn.wav");
  return form;
}

/**
 * A curl command that sends `body`. Audio is named, not pasted: `fileNames` has the name for each turn that has some,
 * and the shell reads the file through a here-document, since an argument may not be as long as a recording.
 */
export function curlFor(url, body, fileNames) {
  const start = `curl -sN ${url} \\\n  -H "Authorization: Bearer $ANTIPHON_KEY" -H 'Content-Type: application/json' \\\n`;
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  if (!body.conversation.some((turn) => turn.audio_wav_b64)) {
    return `${start}  -d ${quoted(JSON.stringify(body, null, 1))}`;
  }
  const stub = (name, value) => (name === "audio_wav_b64" ? "" : value);
  const json = JSON.stringify(body, stub, 1).replace(/[\\$`]/g, "\\$&");
  const names = fileNames.filter((_, index) => body.conversation[index].audio_wav_b64);
  const read = () => `"audio_wav_b64": "$(base64 < ${quoted(names.shift())} | tr -d '\\n')"`;
  return `${start}  --data-binary @- <<JSON\n${json.replace(/"audio_wav_b64": ""/g, read)}\nJSON`;
}
