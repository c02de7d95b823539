import { FRAME_S } from "../../audio/format.ts";
import { fieldError, quoted, ServiceError } from "../../contract/errors.ts";
import { countChars, MAX_INSTRUCTIONS_CHARS, MAX_TEXT_CHARS } from "../../contract/limits.ts";
import { type GenParams, resolveParams } from "../../contract/params.ts";
import type { ConversationTurn, ConverseRequest, TtsRequest } from "../../contract/requests.ts";
import { memberField } from "../../contract/validate.ts";
import { type NamedVoice, voiceName } from "../../contract/voices.ts";
import type { Conversation, OpenTurn, Turn } from "../../core/conversation.ts";
import { pausesS, spokenText } from "../../core/marked-text.ts";
import type { Mode } from "../../core/model-card.ts";
import type { ChosenVoice, Delivery, Lexicon, Preset, RequestedManner } from "../../core/script.ts";
import type { ToolUse } from "../../core/writer.ts";
import type { PublicModel } from "../../models/public-models.ts";
import { hasSpeakable } from "../../text/characters.ts";
import { accentOfTag, isEnglish } from "../../text/languages/languages.ts";
import { lexiconEntryFault } from "../../text/phonemes/user-lexicon.ts";
import { AUTO, chooseLanguage, spokenVoice, textLanguage } from "./choose-language.ts";
import { type CustomVoiceRef, castTurns, type VoiceChoice } from "./choose-voice.ts";
import { ContentHash, decodeHistoryAudio, type TextOf } from "./history-audio.ts";
import { type LongInput, longInputOf } from "./long-input.ts";
import { type OwnVoice, type ParsedText, plainWords, readMarkup } from "./read-markup.ts";
import type { ResolvedDialogue } from "./resolved-dialogue.ts";

/** Request that has been checked in full: from here on only the server can fail. */
export interface ResolvedRequest {
  readonly conversation: Conversation;
  /** Label of the open turn in the request, which may be a name. */
  readonly speaker: string;
  readonly model: PublicModel;
  readonly delivery: Delivery;
  readonly seed: bigint;
  readonly input: { readonly chars: number; readonly audioS: number };
  /** Preset of the request, in addition to the model's. */
  readonly preset: Preset;
  /** Manner of the reply. Default: the voice's own. */
  readonly manner?: RequestedManner;
  /** Requests of the text's markup that are not followed; absent if there are none. */
  readonly cautions?: readonly string[];
  /** Integrated loudness of the reply in LUFS. Default: the voice's own. */
  readonly loudness?: number;
  /** Pronunciations of the request. */
  readonly lexicon: Lexicon;
  /** Voice that speaks. Default: that of the open turn's label, or of its earlier turns. */
  readonly voice?: ChosenVoice;
  /** Tag of the language that the labels' voices speak. Default: what they usually speak. */
  readonly language?: string;
  /** Tag of the language that its voice speaks, if it is not English. */
  readonly otherLanguage?: string;
  /** Custom voice that speaks, still to be found. */
  readonly customVoice?: CustomVoiceRef;
  /** Custom voices of other speakers, each of which has to exist. */
  readonly otherCustomVoices?: readonly CustomVoiceRef[];
  /** Voices that its text names, by those names; absent if it names none. */
  readonly textVoices?: Readonly<Record<string, VoiceChoice>>;
  /** Whether the reply has visemes and phonemes. */
  readonly hasMouth: boolean;
  /** Instructions for the writer, never blank. */
  readonly instructions: string | null;
  /** Functions that the writer may call. */
  readonly toolUse?: ToolUse;
  /** Maximum tokens of the writer. */
  readonly maxTokens?: number;
  /** Seconds of silence that stand for a text with nothing to speak. */
  readonly silenceS?: number;
  /** Present if the open turn is spoken passage by passage. */
  readonly longInput?: LongInput;
  /** The dialogue to speak instead of the open turn. */
  readonly dialogue?: ResolvedDialogue;
  /** Unread fields of the request, as a header reports them; absent if there are none. */
  readonly unread?: string;
}

/** Whether its speech varies with a random seed; else the seed follows from its content. */
export function isVaried({ delivery }: Pick<ResolvedRequest, "delivery">): boolean {
  return delivery.temperature > 0 || delivery.acousticTemperature > 0;
}

/** Finds a public model; `null` is the default one. */
export type ResolveModel = (id: string | null) => PublicModel | undefined;

/**
 * Names of the fields of a text-to-speech request in messages, and the text's maximum length as written and as
 * spoken. If that is over `MAX_TEXT_CHARS`, longer texts are spoken passage by passage.
 */
interface TtsFields {
  readonly text: string;
  readonly voice: string;
  readonly language?: string;
  readonly maxChars?: number;
}

/** Options of a text-to-speech request that `POST /v1/tts` does not take. */
export interface TtsExtras {
  readonly fields?: TtsFields;
  readonly preset?: Preset;
  readonly manner?: RequestedManner;
  /** Maximum frames, beyond what `max_new_tokens` can ask for. */
  readonly maxFrames?: number;
  /** Seconds of silence for a text with nothing to speak. Default: such a text is refused with a 400. */
  readonly silenceS?: number;
}

/**
 * Resolves a text-to-speech request, a conversation of one turn, whose text may come later. Throws a 400
 * {@link ServiceError} that names the field.
 */
export function resolveTts(
  request: Omit<TtsRequest, "text"> & { readonly text?: string },
  resolve: ResolveModel,
  extras: TtsExtras = {},
): ResolvedRequest {
  const { text, speaker, ...asked } = request;
  const { fields = { text: "text", voice: "voice" }, preset, manner, maxFrames, silenceS } = extras;
  const turn = text === undefined ? {} : { text };
  const turns: ConversationTurn[] = [speaker === undefined ? turn : { speaker, ...turn }];
  const resolved = resolveRequest(
    { ...asked, turns, fields, preset, mode: "tts", needsWords: silenceS === undefined },
    resolve,
  );
  const delivery = maxFrames === undefined ? resolved.delivery : { ...resolved.delivery, maxFrames };
  // A text that has to be spoken whole is refused before it begins if its pauses alone are too long.
  const pauseS = pausesS(resolved.conversation.open.marked ?? "");
  if (maxFrames !== undefined && pauseS > maxFrames * FRAME_S) {
    const longestS = Math.floor(maxFrames * FRAME_S);
    throw new ServiceError(
      400,
      `${fields.text}: its pauses are ${Math.round(pauseS)} s long, and a reply may be ${longestS} s: shorten them`,
      { param: fields.text },
    );
  }
  return {
    ...resolved,
    delivery,
    ...(manner === undefined ? {} : { manner }),
    ...(silenceS === undefined ? {} : silenceOf({ ...resolved, delivery }, silenceS)),
    ...longInputOf(request, resolved.input.chars, fields),
  };
}

/**
 * Resolves a conversation: decodes its audio and checks its turns. Throws a 400 {@link ServiceError} that names the turn.
 *
 * @param textOf the base64 text of a turn's audio, where it was not read with the body
 */
export function resolveConverse(
  request: ConverseRequest,
  resolve: ResolveModel,
  textOf?: TextOf,
): ResolvedRequest {
  const { conversation: turns, ...asked } = request;
  return resolveRequest({ ...asked, turns, textOf, mode: "converse" }, resolve);
}

/** Parts of both kinds of request. */
interface RequestParts {
  readonly turns: readonly ConversationTurn[];
  readonly mode: Mode;
  /** Names of the open turn's fields in messages; absent, `conversation[n].text` and so on. */
  readonly fields?: TtsFields;
  /** Voice of the only turn, whatever its label. */
  readonly voice?: NamedVoice | undefined;
  readonly voices?: ConverseRequest["voices"] | undefined;
  readonly language?: ConverseRequest["language"] | undefined;
  readonly model?: ConverseRequest["model"] | undefined;
  readonly params?: GenParams | undefined;
  readonly preset?: Preset | undefined;
  readonly lexicon?: ConverseRequest["lexicon"] | undefined;
  readonly visemes?: boolean | undefined;
  readonly instructions?: string | undefined;
  readonly input_type?: ConverseRequest["input_type"] | undefined;
  readonly textOf?: TextOf | undefined;
  /** Whether the open turn's text must have something to speak. Default: true. */
  readonly needsWords?: boolean;
}

function resolveRequest(parts: RequestParts, resolve: ResolveModel): ResolvedRequest {
  const label = parts.turns.at(-1)?.speaker ?? "0";
  const said = parts.turns.findLast(({ text }) => text?.trim())?.text ?? "";
  const named = parts.voice ?? parts.voices?.[label] ?? label;
  const { model, language } = chooseModel({ ...parts, said, named }, resolve);
  const hash = new ContentHash(model.card.id);
  const { turns, speaker, choice, others } = castTurns(parts, model.card);
  const { history, chars, audioS } = readHistory({ ...parts, turns }, hash);
  const own = spokenVoice(choice, turns.at(-1)?.speaker ?? "0", model.card) ?? { language: null };
  const spoken = own.language;
  const lexicon = checkedLexicon(parts.lexicon, spoken);
  const { open, read } = openTurn(turns, parts, model, lexicon, own);
  const instructions = checkedInstructions(parts.instructions);
  const delivery = deliveryOf(parts.params);
  return {
    conversation: { history, open },
    speaker,
    model,
    delivery,
    seed: hash.lexicon(lexicon).seed(delivery),
    input: { chars: chars + (read?.chars ?? 0), audioS },
    preset: parts.preset ?? {},
    lexicon,
    hasMouth: parts.visemes ?? false,
    instructions,
    ...(language === undefined ? {} : { language }),
    ...(spoken === null || isEnglish(spoken) ? {} : { otherLanguage: spoken }),
    ...(choice.voice === undefined ? {} : { voice: choice.voice }),
    ...(choice.customVoice === undefined ? {} : { customVoice: choice.customVoice }),
    ...(others.length === 0 ? {} : { otherCustomVoices: others }),
    ...(read === null || read.cautions.length === 0 ? {} : { cautions: read.cautions }),
    ...(read === null || Object.keys(read.voices).length === 0 ? {} : { textVoices: read.voices }),
  };
}

/** Checks and decodes every turn but the last, and adds all of them to the hash. */
function readHistory(
  { turns, textOf = (audio) => audio }: RequestParts,
  hash: ContentHash,
): { readonly history: readonly Turn[]; readonly chars: number; readonly audioS: number } {
  const history: Turn[] = [];
  let chars = 0;
  let audioS = 0;
  for (const [index, turn] of turns.entries()) {
    const speaker = turn.speaker ?? "0";
    hash.text(speaker).text(turn.text ?? null);
    if (index === turns.length - 1) break;
    chars += countChars(turn.text ?? "");
    const clip = decodeHistoryAudio(turn, index, { turns, textOf }, hash);
    audioS += clip?.durationS ?? 0;
    const text = turn.text?.trim() ? plainWords(turn.text) : null;
    checkLength(countChars(text ?? ""), MAX_TEXT_CHARS, `conversation[${index}].text`);
    const nothing = "says nothing: every turn before the last needs text or audio_wav_b64";
    if (text === null && clip === null) throw new ServiceError(400, `conversation[${index}] ${nothing}`);
    history.push({ speaker, text, audio: clip });
  }
  return { history, chars, audioS };
}

/** Checks the field `lexicon`. Throws a 400 that names the word and what is wrong. */
export function checkedLexicon(
  lexicon: Readonly<Record<string, string>> = {},
  language: string | null = null,
): Lexicon {
  const words = Object.entries(lexicon);
  for (const word of words) {
    const fault = lexiconEntryFault(word, accentOfTag(language));
    if (fault !== null)
      throw new ServiceError(400, `${memberField("lexicon", word[0])}: ${fault}`, { param: "lexicon" });
  }
  return words;
}

/** Instructions stay out of the seed: an unread one changes nothing. */
function checkedInstructions(instructions = ""): string | null {
  const chars = countChars(instructions);
  if (chars > MAX_INSTRUCTIONS_CHARS) {
    throw new ServiceError(
      400,
      `instructions has ${chars} characters, and at most ${MAX_INSTRUCTIONS_CHARS} are allowed: make it shorter`,
    );
  }
  return instructions.trim() === "" ? null : instructions;
}

/**
 * Finds the model of a request, with the voices of its language. Throws a 400 {@link ServiceError}.
 *
 * @param said text whose language `auto` takes, if the voice `named` speaks it
 */
export function chooseModel(
  {
    said = "",
    named = "0",
    ...parts
  }: Pick<RequestParts, "model" | "mode" | "language" | "fields"> & { said?: string; named?: NamedVoice },
  resolve: ResolveModel,
): { readonly model: PublicModel; readonly language?: string } {
  const id = parts.model ?? null;
  const model = resolve(id);
  if (model === undefined)
    throw fieldError("model", `${quoted(id ?? "")} is unknown: GET /v1/models lists the valid ids`);
  if (!model.card.modes.includes(parts.mode)) {
    throw new ServiceError(
      400,
      `model ${JSON.stringify(model.card.id)} does not support the mode ${parts.mode}`,
    );
  }
  const isAuto = AUTO.test(parts.language ?? "");
  const asked = isAuto ? textLanguage(said, voiceName(named), model.card) : parts.language;
  const { card, ...chosen } = chooseLanguage(asked, model.card, parts.fields?.language);
  return { ...chosen, model: card === model.card ? model : { ...model, card } };
}

/** Checks the turn to speak and reads the marks of its text. */
function openTurn(
  turns: readonly ConversationTurn[],
  { fields, needsWords = true, input_type: inputType }: RequestParts,
  { card }: PublicModel,
  lexicon: Lexicon,
  own: OwnVoice,
): { readonly open: OpenTurn; readonly read: ParsedText | null } {
  const index = turns.length - 1;
  const turn = turns[index]!;
  const textField = fields?.text ?? `conversation[${index}].text`;
  if (turn.audio_wav_b64 !== undefined && turn.audio_wav_b64 !== null) {
    throw fieldError(
      `conversation[${index}].audio_wav_b64`,
      "is not allowed on the open turn: the last turn is the one to be spoken, " +
        "so send its text, or only its speaker",
    );
  }
  const speaker = turn.speaker ?? "0";
  if (turn.text === undefined || turn.text === null) return { open: { speaker, text: null }, read: null };
  if (turn.text.trim() === "") {
    throw fieldError(
      textField,
      `is empty: give words to speak${fields === undefined ? ", or leave text out to have them written" : ""}`,
    );
  }
  const read = readMarkup(turn.text, textField, card, inputType, lexicon, own);
  const { piece, chars } = read;
  const { maxChars = MAX_TEXT_CHARS } = fields ?? {};
  checkLength(read.unmarkedChars, maxChars, textField);
  if (chars > maxChars) {
    throw fieldError(
      textField,
      `has ${chars} characters with what its lexicon and phonemes say for words, and at most ${maxChars} ` +
        "are allowed: make it shorter, or shorten its pronunciations",
    );
  }
  if (needsWords && !hasSpeakable(spokenText(piece)))
    throw fieldError(textField, "has nothing speakable: it needs at least one letter or digit");
  const marked = typeof piece === "string" ? {} : { marked: piece };
  return { open: { speaker, text: turn.text, ...marked }, read };
}

/** Rejects a text that is too long without its markup. The schema allows more, because it counts the markup too. */
export function checkLength(unmarkedChars: number, maxChars: number, field: string, status?: 400): void {
  if (unmarkedChars > maxChars)
    throw fieldError(field, `must have at most ${maxChars} characters`, status ?? 422);
}

/** Returns the silence that stands for a text without words: as long as its pauses, if it has any. */
function silenceOf(
  { conversation: { open }, delivery }: ResolvedRequest,
  silenceS: number,
): Pick<ResolvedRequest, "silenceS"> {
  const { marked, text } = open;
  if (hasSpeakable(spokenText(marked ?? text ?? ""))) return {};
  const askedS = marked === undefined ? 0 : pausesS(marked);
  return { silenceS: Math.max(silenceS, Math.min(askedS, delivery.maxFrames * FRAME_S)) };
}

export function deliveryOf(params: GenParams | undefined): Delivery {
  const resolved = resolveParams(params);
  return {
    temperature: resolved.temperature,
    acousticTemperature: resolved.acoustic_temperature ?? resolved.temperature,
    topK: resolved.top_k,
    repetitionPenalty: resolved.repetition_penalty,
    penaltyWindow: resolved.penalty_window,
    maxFrames: resolved.max_new_tokens,
    quality: resolved.audio_quality,
  };
}
