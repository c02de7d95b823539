import type { Dialogue } from "../../core/writer.ts";

/** By language: that small talk speaks English only and how to connect a model, and what is said after that. */
const SENTENCES: Readonly<Record<string, readonly [once: string, later: string]>> = {
  es: [
    "Por ahora solo sé conversar en inglés. Para que te responda en español, conecta un modelo de lenguaje: " +
      "descarga uno con antiphon models pull, o indica un servidor en el ajuste writer.",
    "Todavía no tengo un modelo para conversar en español.",
  ],
  it: [
    "Per ora so conversare solo in inglese. Perché ti risponda in italiano, collega un modello linguistico: " +
      "scaricane uno con antiphon models pull, oppure indica un server nell'impostazione writer.",
    "Non ho ancora un modello per conversare in italiano.",
  ],
};

/** Returns what small talk says in the language of its voice; `null` if that is English or has no sentences. */
export function englishOnlyReply({ language, history, speaker }: Dialogue): string | null {
  const sentences = SENTENCES[language?.split("-")[0] ?? ""];
  if (sentences === undefined) return null;
  const [once, later] = sentences;
  const [first = ""] = once.split(". ");
  return history.some((turn) => turn.speaker === speaker && turn.text?.includes(first)) ? later : once;
}
