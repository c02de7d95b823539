import { inlinePhonemes } from "../../text/inline-phonemes.ts";
import type { Dialect } from "./dialect.ts";
import { readSpeech, speechBody } from "./openai-speech.ts";
import { referenceIn } from "./reference.ts";
import type { RemoteOptions } from "./remote-options.ts";

/** As many code points as OpenAI's own API takes. */
const MAX_CHARS = 4_096;
/** Nobody says more letters and digits than that in a second: about twice what is usual. */
const MAX_CHARS_PER_S = 40;

/**
 * A server with OpenAI's `POST /audio/speech`. It is given words, a voice and a speed, and of the earlier turns a clip to
 * clone at most; the other knobs and pronunciations have no place there.
 */
export function openaiDialect(options: RemoteOptions): Dialect {
  const { voices, format, sampleRateHz, references } = options;
  return {
    route: "/audio/speech",
    accept: "audio/wav, audio/pcm, audio/*;q=0.5",
    async prepare({ history, speaker, preset }, signal) {
      let reference = references ? await referenceIn(history, speaker, signal) : null;
      const voice = voices[speaker] ?? speaker;
      const speed = typeof preset.rate === "number" ? preset.rate : 1;
      const model = options.model ?? "";
      return {
        maxChars: MAX_CHARS,
        request(text) {
          const input = withoutPhonemes(text).trim();
          const minS = lettersIn(input) / MAX_CHARS_PER_S;
          return {
            body: speechBody({ model, input, voice, speed, format, reference }),
            read: readSpeech({ format, sampleRateHz, minS }),
          };
        },
        finish() {
          reference = null;
        },
        voiceOf: (heard) => heard,
      };
    },
  };
}

/** `[word](/phonemes/)` as the word alone. */
function withoutPhonemes(text: string): string {
  let plain = "";
  let at = 0;
  for (const { from, to, word } of inlinePhonemes(text)) {
    plain += text.slice(at, from) + word;
    at = to;
  }
  return plain + text.slice(at);
}

function lettersIn(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}
