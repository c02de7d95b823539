import { RecogniserError } from "../../model/recogniser.ts";

/** Codes of ISO 639 that Whisper writes in another way. */
const AS_WHISPER: Readonly<Record<string, string>> = { iw: "he", in: "id", jv: "jw", nb: "no", fil: "tl" };
const AS_ISO: Readonly<Record<string, string>> = { jw: "jv" };

/**
 * Whisper's name for a language, of which a region is left out (`pt-BR`).
 *
 * @param known the languages of a model; empty for one of English alone
 * @returns `null` where the model does not know it
 */
export function whisperLanguage(code: string, known: readonly string[]): string | null {
  const primary = code.toLowerCase().split(/[-_]/)[0]!;
  const name = AS_WHISPER[primary] ?? primary;
  return (known.length === 0 ? ["en"] : known).includes(name) ? name : null;
}

/** The code of ISO 639 of what Whisper calls so. */
export function isoLanguage(name: string): string {
  return AS_ISO[name] ?? name;
}

/** What is told where a language is asked for that the model does not know. @param known as above */
export function unknownLanguage(code: string, known: readonly string[]): RecogniserError {
  const codes = (known.length === 0 ? ["en"] : known).map(isoLanguage).sort();
  return new RecogniserError(
    `The recogniser does not know the language '${printable(code)}'. ` +
      `Leave \`language\` out, or give one of: ${codes.join(", ")}.`,
    { isOfRequest: true },
  );
}

/** A client's own words, short and without what a log or a terminal would take for more than text. */
function printable(code: string): string {
  return code.replaceAll(/[^\p{L}\p{N}_-]/gu, "?").slice(0, 20);
}
