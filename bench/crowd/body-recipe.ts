import { randomFillSync, randomInt } from "node:crypto";

/** Where bodies are sent. */
export type HostilePath = "/v1/converse" | "/v1/converse/stream" | "/v1/tts" | "/v1/audio/speech";

/** How a body is made, so that it need not be sent from process to process. All are accepted by the contract. */
export type BodyRecipe =
  /** Words to speak. */
  | { readonly kind: "text"; readonly chars: number; readonly maxNewTokens?: number }
  /** Two words to speak, beside a member that nothing reads: brackets in brackets, or empty objects in an array. */
  | { readonly kind: "nested" | "flat"; readonly bytes: number }
  /** Turns that hold a WAV of noise each, of that many bytes, before `chars` letters to speak. */
  | {
      readonly kind: "audio";
      readonly clips: readonly number[];
      readonly bits: 8 | 16;
      readonly rateHz: number;
      readonly chars: number;
    };

/** A body that can be sent over and over. */
export interface HostileBody {
  readonly bytes: Buffer;
  /** Changes every clip a little, so that none was heard before. */
  freshen(): void;
}

export function hostileBody(recipe: BodyRecipe, path: HostilePath): HostileBody {
  switch (recipe.kind) {
    case "text":
      return fixed(requestOf(path, wordsOf(recipe.chars), { max_new_tokens: recipe.maxNewTokens ?? 512 }));
    case "nested":
    case "flat": {
      const request = requestOf(path, "Of course.");
      const room = recipe.bytes - request.length - IGNORED.length - 3;
      const filling =
        recipe.kind === "nested" ? nested(room) : `[${"{},".repeat(Math.floor((room - 4) / 3))}{}]`;
      return fixed(`${request.slice(0, -1)},${IGNORED}${filling}}`);
    }
    case "audio":
      return withClips(recipe);
  }
}

const IGNORED = '"ignored":';

function nested(bytes: number): string {
  const depth = Math.floor(bytes / 2);
  return "[".repeat(depth) + "]".repeat(depth);
}

function fixed(json: string): HostileBody {
  return { bytes: Buffer.from(json), freshen: () => {} };
}

function requestOf(path: HostilePath, text: string, params?: object): string {
  if (path === "/v1/audio/speech") return JSON.stringify({ model: "svc-beta-v0.3", voice: "0", input: text });
  const spoken = path === "/v1/tts" ? { text } : { conversation: [{ speaker: "0", text }] };
  return JSON.stringify(params === undefined ? spoken : { ...spoken, params });
}

function wordsOf(chars: number): string {
  return SENTENCE.repeat(Math.ceil(chars / SENTENCE.length)).slice(0, chars);
}

const SENTENCE = "We went along the river until the light was gone, and nobody said a word. ";

function withClips({ clips, bits, rateHz, chars }: BodyRecipe & { readonly kind: "audio" }): HostileBody {
  const parts: Buffer[] = [Buffer.from('{"conversation":[')];
  const places: number[] = [];
  let length = parts[0]!.length;
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const bytes of clips) {
    add(Buffer.from('{"speaker":"0","audio_wav_b64":"'));
    const wav = noise(bytes, bits, rateHz);
    // Behind the header, in whole groups of four characters.
    places.push(length + 4 * HEADER_BYTES);
    add(Buffer.from(wav.toString("base64")));
    add(Buffer.from('"},'));
  }
  add(
    Buffer.from(
      `{"speaker":"0","text":${JSON.stringify(wordsOf(chars))}}],"params":{"max_new_tokens":2048}}`,
    ),
  );
  const bytes = Buffer.concat(parts);
  const freshen = (): void => {
    for (const place of places)
      bytes.write(
        randomInt(2 ** 40)
          .toString(36)
          .padStart(8, "0"),
        place,
      );
  };
  return { bytes, freshen };
}

const HEADER_BYTES = 44;

function noise(bytes: number, bits: 8 | 16, rateHz: number): Buffer {
  const wav = randomFillSync(Buffer.allocUnsafe(bytes));
  const blockBytes = bits / 8;
  wav.write("RIFF", 0);
  wav.writeUInt32LE(bytes - 8, 4);
  wav.write("WAVEfmt ", 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(rateHz, 24);
  wav.writeUInt32LE(rateHz * blockBytes, 28);
  wav.writeUInt16LE(blockBytes, 32);
  wav.writeUInt16LE(bits, 34);
  wav.write("data", 36);
  wav.writeUInt32LE(bytes - HEADER_BYTES, 40);
  return wav;
}
