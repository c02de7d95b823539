import { languageCode } from "../../core/languages.ts";
import { RecogniserError } from "../../core/recogniser.ts";

/**
 * Whisper's name for a language, of which a region is left out (`pt-BR`).
 *
 * @param known the languages of a model; empty for one of English alone
 * @returns `null` where the model does not know it
 */
export function whisperLanguage(code: string, known: readonly string[]): string | null {
  const wanted = isoLanguage(code.toLowerCase().split(/[-_]/)[0]!);
  return (known.length === 0 ? ["en"] : known).find((name) => isoLanguage(name) === wanted) ?? null;
}

/** The code of ISO 639 of what Whisper calls so. */
export function isoLanguage(name: string): string {
  return languageCode(name) ?? name;
}

/** What is told where a language is asked for that the model does not know. @param known as above */
export function unknownLanguage(code: string, known: readonly string[]): RecogniserError {
  const codes = (known.length === 0 ? ["en"] : known).map(isoLanguage).sort();
  return new RecogniserError(
    `The recogniser does not know the language '${printable(code)}'. ` +
      `Leave \`language\` out, or give one of: ${codes.join(", ")}.`,
    { refused: "language" },
  );
}

/** What is told where a translation is asked for of a model of English alone. */
export function cannotTranslate(): RecogniserError {
  return new RecogniserError(
    "The recogniser knows English alone, and cannot translate. Ask for a transcription instead.",
    { refused: "task" },
  );
}

/** A client's own words, short and without what a log or a terminal would take for more than text. */
function printable(code: string): string {
  return code.replaceAll(/[^\p{L}\p{N}_-]/gu, "?").slice(0, 20);
}
