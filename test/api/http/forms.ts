import { encodeWav } from "../../../src/audio/encode-wav.ts";
import { toPcm16 } from "../../../src/audio/pcm.ts";
import { type SyntheticVoice, syntheticVoice } from "../../engines/following/analysis/synthetic-voice.ts";
import type { TestServer } from "./start.ts";
import type { Reply } from "./wire.ts";

export const PATH = "/v1/audio/transcriptions";
export const TRANSLATIONS = "/v1/audio/translations";

/** Half a second at 16 kHz. */
export const WAV = encodeWav(
  Int16Array.from({ length: 8_000 }, (_, at) => 8_000 * Math.sin(at / 9)),
  16_000,
) as Uint8Array<ArrayBuffer>;

export type Parts = Readonly<Record<string, string | Blob | readonly (string | Blob)[] | undefined>>;

/** A form with WAV and model, overridden by `parts`; `undefined` omits a field. */
export function formOf(parts: Parts): FormData {
  const form = new FormData();
  const all: Parts = { file: new Blob([WAV]), model: "whisper-1", ...parts };
  for (const [name, value] of Object.entries(all)) {
    for (const each of [value].flat()) {
      if (typeof each === "string") form.append(name, each);
      else if (each !== undefined) form.append(name, each, "a.wav");
    }
  }
  return form;
}

/** Posts a transcription with the server's key, or with the headers of `init`. */
export function transcribe(
  on: TestServer,
  parts: Parts = {},
  init: RequestInit = { headers: { "X-API-Key": on.key } },
): Promise<Reply> {
  return fetch(on.url + PATH, { method: "POST", body: formOf(parts), ...init });
}

/** Posts a translation. */
export function translate(on: TestServer, parts: Parts = {}): Promise<Reply> {
  const headers = { "X-API-Key": on.key };
  return fetch(on.url + TRANSLATIONS, { method: "POST", body: formOf(parts), headers });
}

export const VOICES = "/v1/audio/voices";

/** A WAV of synthetic speech, three seconds by default. */
export function voiceWav(voice: SyntheticVoice = {}): Uint8Array<ArrayBuffer> {
  return wavOf(syntheticVoice(voice), voice.sampleRateHz ?? 24_000);
}

export function wavOf(samples: Float32Array, sampleRateHz = 24_000): Uint8Array<ArrayBuffer> {
  return new Uint8Array(encodeWav(toPcm16(samples), sampleRateHz));
}

export type VoiceParts = Readonly<Record<string, string | Uint8Array<ArrayBuffer> | undefined>>;

/** Posts a form for a voice named Anna, overridden by `parts`; `undefined` omits a field. */
export function addVoice(on: TestServer, parts: VoiceParts = {}, key = on.key): Promise<Reply> {
  const form = new FormData();
  const all: VoiceParts = {
    name: "Anna",
    consent: "She agrees.",
    ref_text: "What she says.",
    audio_sample: voiceWav(),
    ...parts,
  };
  for (const [name, value] of Object.entries(all)) {
    if (typeof value === "string") form.append(name, value);
    else if (value !== undefined) form.append(name, new Blob([value]), "a.wav");
  }
  return fetch(on.url + VOICES, { method: "POST", body: form, headers: { Authorization: `Bearer ${key}` } });
}

export function deleteVoice(on: TestServer, voice: string, key = on.key): Promise<Reply> {
  return fetch(`${on.url}${VOICES}/${encodeURIComponent(voice)}`, {
    method: "DELETE",
    headers: { Authorization: `Bearer ${key}` },
  });
}
