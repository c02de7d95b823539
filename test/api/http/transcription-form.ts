import { encodeWav } from "../../../src/audio/encode-wav.ts";
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

/** A form of WAV and model, with what is given in their place; `undefined` leaves out. */
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

/** Posts such a form with the server's key, or with the headers given instead. */
export function transcribe(
  on: TestServer,
  parts: Parts = {},
  init: RequestInit = { headers: { "X-API-Key": on.key } },
): Promise<Reply> {
  return fetch(on.url + PATH, { method: "POST", body: formOf(parts), ...init });
}

/** The same to have it in English. */
export function translate(on: TestServer, parts: Parts = {}): Promise<Reply> {
  const headers = { "X-API-Key": on.key };
  return fetch(on.url + TRANSLATIONS, { method: "POST", body: formOf(parts), headers });
}
