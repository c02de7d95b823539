import assert from "node:assert/strict";
import { FormReader, MAX_TEXT_BYTES } from "../../src/api/http/form-body.ts";
import { ServiceError } from "../../src/contract/errors.ts";
import { countChars } from "../../src/contract/limits.ts";
import { readTranscriptionForm } from "../../src/contract/transcription-form.ts";
import { nameProblem, readVoiceForm } from "../../src/contract/voice-form.ts";
import { bentBytes } from "./bent-bytes.ts";
import { diceOf } from "./dice.ts";
import type { Fuzzer, Random } from "./fuzzer.ts";

/** Fuzzes multipart forms: read within their bounds, independent of the chunks, or refused in a sentence. */
export const voiceFormFuzz: Fuzzer & Required<Pick<Fuzzer, "make" | "check">> = {
  run: async (random) => check(make(random)),
  make,
  check,
  async close() {},
};

const BOUNDARY = "xyz";
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const FILE = { field: "audio_sample", maxBytes: 4_096 };
/** Chunk sizes. */
const CHUNKS = [Number.POSITIVE_INFINITY, 61];

const NAMES = ["name", "consent", "ref_text", "description", "speaker_description", "audio_sample"];
const ODD_NAMES = ["__proto__", "constructor", "", "name[]", "n".repeat(9_000), "na\u202eme", "languages[7]"];
const VALUES = [
  ..."Anna|Анна|𝄞 d'Artagnan| |no|voice_1|../a|nova(2)+onyx|\u3164|\u2800|❤\ufe0f".split("|"),
  ...["\u0000", "a\r\nb", "x".repeat(2_001), "x".repeat(65), "é".repeat(600), "--xyz", "\r\n--xyz--\r\n"],
];
const HEADS = [
  "Content-Type: text/plain; charset=utf-16le",
  "Content-Type: text/plain; charset=base64",
  "Content-Type: text/plain; charset=*''x",
  "Content-Type: application/octet-stream",
  "Content-Transfer-Encoding: base64",
  `X: ${"y".repeat(9_000)}`,
  "no header",
];

function make(random: Random): Uint8Array {
  const dice = diceOf(random);
  const part = (name: string, value: string, isFile: boolean): string => {
    const file = isFile ? '; filename="a"' : "";
    const heads = dice.chance(0.1) ? [dice.one(HEADS)] : [];
    const said = [`Content-Disposition: form-data; name="${name}"${file}`, ...heads].join("\r\n");
    return `--${BOUNDARY}\r\n${said}\r\n\r\n${value}\r\n`;
  };
  const value = (): string => (dice.chance(0.05) ? "y".repeat(70_000) : dice.one(VALUES));
  const field = (): string => part(dice.one(dice.chance(0.8) ? NAMES : ODD_NAMES), value(), dice.chance(0.1));
  const whole = [
    part("name", "Anna", false),
    part("consent", "Yes.", false),
    part("audio_sample", "RIFF".repeat(dice.upTo(dice.chance(0.1) ? 1_100 : 20)), true),
  ];
  const many = dice.chance(0.05) ? 200 : 4;
  const parts = [...whole.filter(() => dice.chance(0.9)), ...dice.several(0, many, field)];
  if (dice.chance(0.3)) parts.reverse();
  const bytes = Buffer.from(`${parts.join("")}--${BOUNDARY}--\r\n`);
  return dice.chance(0.5) ? bytes : bentBytes(bytes, Buffer.from(parts.join("")), random);
}

async function check(input: Uint8Array): Promise<void> {
  const outcomes: (string | null)[] = [];
  for (const chunkBytes of CHUNKS) outcomes.push(await refusalOf(() => read(input, chunkBytes)));
  assert.equal(outcomes[0] === null, outcomes[1] === null, outcomes.join(" | "));
}

async function read(input: Uint8Array, chunkBytes: number): Promise<void> {
  const reader = new FormReader(TYPE, FILE, input.length);
  for (let at = 0; at < input.length; at += chunkBytes)
    await reader.write(input.subarray(at, Math.min(input.length, at + chunkBytes)));
  const { fields, textBytes, file } = await reader.end();
  assert.ok(fields.length <= 160 && (file?.length ?? 0) <= FILE.maxBytes);
  assert.equal(
    textBytes,
    fields.reduce((sum, { name, value }) => sum + 2 * (name.length + value.length), 0),
  );
  assert.ok(textBytes <= MAX_TEXT_BYTES, `${textBytes}`);
  await refusalOf(() => void readTranscriptionForm("transcribe", fields, null));
  await refusalOf(() => {
    const { name, consent, refText, description } = readVoiceForm(fields);
    assert.equal(nameProblem(name), null);
    assert.ok(countChars(name) <= 64 && countChars(consent) <= 2_000 && consent !== "");
    assert.ok(countChars(refText ?? "x") <= 2_000 && refText !== "" && countChars(description) <= 500);
  });
}

/** Returns the message of a refusal, or null. Throws other errors. */
async function refusalOf(work: () => void | Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    assert.ok(error.status === 400 || error.status === 422, `${error.status}`);
    assert.ok(error.message.length > 10 && error.message.length < 500, error.message);
    assert.doesNotMatch(error.message, /[\p{Cc}\p{Cf}]/u);
    return error.message;
  }
}
