import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { MAX_SPEECH_FRAMES, MIN_NEW_TOKENS } from "../../contract/limits.ts";
import type { Script } from "../../core/script.ts";
import {
  type Frame,
  NothingToSpeakError,
  type SpeechModel,
  type SpeechReport,
  silence,
} from "../../core/speech-model.ts";
import { type Passage, splitPassages } from "../../text/sentences/passages.ts";
import { buildScript, onePiece } from "../prepare/build-script.ts";
import { spokenVoice } from "../prepare/choose-language.ts";
import { ContentHash } from "../prepare/history-audio.ts";
import type { LongInput } from "../prepare/long-input.ts";
import { readMarkup } from "../prepare/read-markup.ts";
import { isVaried, type ResolvedRequest } from "../prepare/resolve-request.ts";
import { FrameJoiner } from "./frame-joiner.ts";
import { speakLine } from "./speak-dialogue.ts";
import { passageSeed, pauseAfter, silentSamples } from "./synthesize-passages.ts";
import { WordLocator } from "./word-locator.ts";

type LongScript = ResolvedRequest & { readonly longInput: LongInput };

/**
 * Speaks a long text as one utterance: passage by passage, each as `antiphon say` speaks it. A passage that the voice
 * cannot pronounce is a pause. Ends early, with `length`, at the limit of frames.
 */
export async function* speakLongInput(
  model: SpeechModel,
  prepared: LongScript,
  base: Pick<Script, "keyId" | "traceHeaders" | "preset">,
  signal: AbortSignal,
): AsyncGenerator<Frame, SpeechReport, void> {
  const text = prepared.conversation.open.text ?? "";
  const { ssml } = prepared.longInput;
  const joiner = new FrameJoiner();
  const locator = new WordLocator(text);
  let [pause, readChars, number] = [0, 0, 0];
  let [isSpoken, isCut] = [false, false];
  for await (const passage of ssml ?? splitPassages(onePiece(text), "plain")) {
    for await (const frame of silence(pause / SAMPLE_RATE_HZ)) yield* joiner.push(frame);
    const silent = silentSamples(passage);
    pause = silent ?? pauseAfter(passage);
    if (silent !== null) continue;
    const maxFrames = Math.min(MAX_SPEECH_FRAMES, prepared.delivery.maxFrames - joiner.frames);
    isCut = maxFrames < MIN_NEW_TOKENS;
    if (isCut) break;
    const parts = "parts" in passage ? passage.parts : null;
    joiner.beginPart(null);
    const speech = model.speak(passageScript(passage, number++, prepared, base, maxFrames), signal);
    const report = yield* speakLine(speech, joiner, null, (word) => ({
      ...word,
      ...locator.next(word, passage.text, parts),
    }));
    isSpoken ||= report !== null;
    isCut = report?.stop === "length";
    if (isCut) break;
    readChars = passage.readChars;
  }
  if (!isSpoken) throw new NothingToSpeakError("the text holds nothing that this voice can pronounce");
  yield* joiner.end();
  return isCut ? { stop: "length", spoken: text.slice(0, readChars) } : { stop: "finished", spoken: text };
}

function passageScript(
  { text }: Passage,
  number: number,
  prepared: LongScript,
  base: Pick<Script, "keyId" | "traceHeaders" | "preset">,
  maxFrames: number,
): Script {
  const { conversation, model, lexicon, delivery, longInput } = prepared;
  const { speaker } = conversation.open;
  const own = spokenVoice(prepared, speaker, model.card) ?? { language: null };
  const inputType = longInput.ssml === null ? "text" : "ssml";
  const { piece } = readMarkup(text, longInput.field, model.card, inputType, lexicon, own);
  const marked = typeof piece === "string" ? {} : { marked: piece };
  const passage = {
    ...prepared,
    conversation: { history: [], open: { speaker, text, ...marked } },
    delivery: { ...delivery, maxFrames },
    seed: isVaried(prepared)
      ? prepared.seed ^ passageSeed({ text }, number)
      : new ContentHash(model.card.id).text(speaker).text(text).lexicon(lexicon).seed(delivery),
  };
  return buildScript(passage, base.preset, null, base.keyId, base.traceHeaders);
}
