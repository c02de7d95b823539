import type { Clip, SpeakerLabel, Turn } from "../../core/conversation.ts";
import type { VoiceSample } from "../../core/script.ts";
import { ConversationError } from "../../core/speech-model.ts";
import { withoutPhonemes } from "../../text/phonemes/inline-phonemes.ts";
import { base64Wav } from "./base64-wav.ts";
import { calledThere, chosenPart, passedOnName } from "./chosen-part.ts";
import type { Dialect, RemoteOptions } from "./dialect.ts";
import { readSpeech } from "./openai-speech.ts";
import { blamingVoice } from "./refused-voice.ts";

/** As many code points as OpenAI's own API takes. */
const MAX_CHARS = 4_096;
/** Nobody says more letters and digits than that in a second: about twice what is usual. */
const MAX_CHARS_PER_S = 40;

/**
 * A server with OpenAI's `POST /audio/speech`. It is given words, a voice, a speed and instructions how to speak, and of the
 * earlier turns a clip to clone at most, or a recording that was chosen; the other knobs and pronunciations have no place there.
 */
export function openaiDialect(options: RemoteOptions): Dialect {
  const { voices, format, sampleRateHz, references } = options;
  return {
    route: "/audio/speech",
    accept: "audio/wav, audio/pcm, audio/*;q=0.5",
    async prepare({ history, speaker, voice: chosen, manner, preset }, signal) {
      const part = chosenPart(chosen);
      const heard = references && part === null ? await referenceIn(history, speaker, signal) : null;
      let reference =
        part !== null && "sample" in part ? await referenceOf(part.sample, options, signal) : heard;
      const name = part !== null && "id" in part ? part.id : speaker;
      const voice = calledThere(name, voices);
      const passedOn = passedOnName(part, voices);
      const speed = typeof preset.rate === "number" ? preset.rate : 1;
      const instructions = manner?.words ?? null;
      const model = options.model ?? "";
      return {
        maxChars: MAX_CHARS,
        request(text) {
          const input = withoutPhonemes(text).trim();
          const minS = lettersIn(input) / MAX_CHARS_PER_S;
          return {
            body: speechBody({ model, input, voice, speed, instructions, format, reference }),
            read: blamingVoice(passedOn, readSpeech({ format, sampleRateHz, minS })),
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

function lettersIn(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

/** What is asked of `POST /audio/speech`. */
interface SpeechRequest {
  readonly model: string;
  readonly input: string;
  readonly voice: string;
  /** 1 is the voice's own. */
  readonly speed: number;
  /** How it is said, as it was asked for. */
  readonly instructions: string | null;
  readonly format: "wav" | "pcm";
  /** A voice to clone, in place of `voice`. */
  readonly reference: Reference | null;
}

/** Its body. `stream_format` says to newer servers what `stream` alone did to older ones; others pass both over. */
function speechBody(asked: SpeechRequest): Uint8Array[] {
  const { model, input, voice, speed, instructions, format, reference } = asked;
  const body = {
    model,
    input,
    ...(reference === null ? { voice } : { ref_text: reference.text }),
    response_format: format,
    stream: true,
    stream_format: "audio",
    ...(speed === 1 ? {} : { speed }),
    ...(instructions === null ? {} : { instructions }),
  };
  const json = JSON.stringify(body);
  if (reference === null) return [Buffer.from(json)];
  const open = Buffer.from(`${json.slice(0, -1)},"ref_audio":"data:audio/wav;base64,`);
  return [open, ...reference.wavBase64, Buffer.from('"}')];
}

/** A voice to clone: somebody's words, and how they sounded. */
interface Reference {
  readonly text: string;
  /** A WAV in base64, in pieces. */
  readonly wavBase64: readonly Uint8Array[];
}

/** What servers take. */
const SECONDS = { min: 1, max: 30 } as const;

/** The speaker's latest clip whose words are known, of 1 to 30 s; `null` where there is none. */
async function referenceIn(
  history: readonly Turn[],
  speaker: SpeakerLabel,
  signal: AbortSignal,
): Promise<Reference | null> {
  for (const { speaker: of, text, audio } of history.toReversed()) {
    if (of !== speaker || text === null || audio === null || !isSuitable(audio)) continue;
    return { text, wavBase64: await base64Wav(audio, signal) };
  }
  return null;
}

/** A recording that was chosen. Throws a {@link ConversationError} where the server takes none, or not this one. */
async function referenceOf(
  { clip, text }: VoiceSample,
  { references }: RemoteOptions,
  signal: AbortSignal,
): Promise<Reference> {
  if (!references)
    throw new ConversationError("this model follows no recording: choose one of its own voices");
  if (text === null) {
    throw new ConversationError(
      "this model needs to know what is said in a recording: make the voice again with its ref_text",
    );
  }
  return { text, wavBase64: await base64Wav(clip, signal) };
}

/** Of a clip whose end was left out the words are too many. */
function isSuitable({ durationS, samples, sampleRateHz }: Clip): boolean {
  const isWhole = samples.length >= durationS * sampleRateHz - 1;
  return isWhole && durationS >= SECONDS.min && durationS <= SECONDS.max;
}
