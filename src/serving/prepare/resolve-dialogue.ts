import { resolveModelName } from "../../contract/audio-speech.ts";
import type { DialogueRequest } from "../../contract/dialogue.ts";
import { fieldError, quoted, ServiceError } from "../../contract/errors.ts";
import {
  countChars,
  MAX_DIALOGUE_LINES,
  MAX_DIALOGUE_SPEAKERS,
  MAX_SCRIPT_CHARS,
  MAX_SPEECH_CHARS,
  MAX_SPEECH_FRAMES,
} from "../../contract/limits.ts";
import { memberField } from "../../contract/validate.ts";
import { type NamedVoice, voiceName } from "../../contract/voices.ts";
import { parseScript, ScriptError, speakerKey } from "../../core/dialogue/parse-script.ts";
import { spokenText } from "../../core/marked-text.ts";
import type { ModelCard } from "../../core/model-card.ts";
import type { Lexicon } from "../../core/script.ts";
import { hasSpeakable } from "../../text/characters.ts";
import { spokenVoice } from "./choose-language.ts";
import { chooseSpeaker, findModelVoice, type VoiceChoice } from "./choose-voice.ts";
import { ContentHash } from "./history-audio.ts";
import { readManner } from "./read-manner.ts";
import { type OwnVoice, readMarkup } from "./read-markup.ts";
import {
  checkedLexicon,
  checkLength,
  chooseModel,
  deliveryOf,
  type ResolveModel,
} from "./resolve-request.ts";
import { type SpeechBody, speechForm } from "./resolve-speech.ts";
import type { DialogueLine, DialogueSpeaker, ResolvedDialogue } from "./resolved-dialogue.ts";

/** A dialogue, and the form of its answer. */
export interface DialogueBody extends SpeechBody {
  readonly dialogue: ResolvedDialogue;
}

interface AskedLine {
  readonly speaker: string;
  readonly text: string;
  readonly instructions?: string | undefined;
  readonly scene: string | null;
  /** UTF-16 units from the start of the reply's text. */
  readonly from: number;
  /** Name of its text in messages, and the field in errors. */
  readonly field: string;
  readonly param: string;
  /** Field in which the speaker's name is a voice; `null` if it may be any name. */
  readonly voiceField: string | null;
}

/** Resolves a dialogue. Throws a 400 or 422 {@link ServiceError} that names the field, and the line of a script. */
export function resolveDialogue(request: DialogueRequest, resolve: ResolveModel): DialogueBody {
  const text = request.script ?? request.lines?.map((line) => line.text).join("\n") ?? "";
  const asks = {
    model: resolveModelName(request.model),
    language: request.language,
    mode: "converse",
    said: text,
  } as const;
  const { model, language } = chooseModel(asks, resolve);
  const { preset, maxFrames, ...form } = speechForm(request, MAX_DIALOGUE_LINES * MAX_SPEECH_FRAMES);
  const voices = voicesByKey(request.voices ?? {});
  const cautions = new Set<string>();
  const asked = request.lines === undefined ? scriptLines(request, voices, cautions) : givenLines(request);
  const speakers = castSpeakers(asked, voices, model.card, cautions);
  const people = Array.from(speakers.values(), ({ choice }) => spokenVoice(choice, "0", model.card));
  const tags = new Set(people.map((each) => each?.language ?? null));
  const lexicon = checkedLexicon(request.lexicon, tags.size === 1 ? [...tags][0] : null);
  const speakerKeys = [...speakers.keys()];
  const hash = new ContentHash(model.card.id);
  const textVoices = new Map<string, VoiceChoice>();
  const lines: DialogueLine[] = [];
  let [chars, offset, isSpeakable] = [0, 0, false];
  for (const [index, line] of asked.entries()) {
    const before = asked[index - 1];
    const speaker = speakerKeys.indexOf(speakerKey(line.speaker));
    const read = readLine(line, model.card, lexicon, people[speaker] ?? undefined, cautions);
    offset += countChars(text.slice(before?.from ?? 0, line.from));
    lines.push({
      ...{ speaker, text: line.text, piece: read.piece, offset, length: countChars(line.text) },
      ...{ scene: line.scene, gapS: before === undefined ? null : gapBetween(before, line, request.gap) },
      ...(read.manner && { manner: read.manner }),
    });
    for (const each of [`${speaker}`, line.text, line.instructions ?? null]) hash.text(each);
    for (const voice of Object.entries(read.voices)) textVoices.set(...voice);
    if (textVoices.size > MAX_DIALOGUE_SPEAKERS) throw tooManyVoices(line);
    chars += read.chars;
    isSpeakable ||= read.hasWords;
  }
  if (!isSpeakable)
    throw fieldError(
      request.lines === undefined ? "script" : "lines",
      "has nothing speakable: it needs at least one letter or digit",
    );
  const delivery = deliveryOf(request.params);
  const maxLineFrames = request.params?.max_new_tokens ?? MAX_SPEECH_FRAMES;
  return {
    ...{ conversation: { history: [], open: { speaker: "0", text } }, speaker: "0" },
    dialogue: { speakers: [...speakers.values()], lines, maxLineFrames },
    delivery: { ...delivery, maxFrames },
    seed: hash.lexicon(lexicon).seed(delivery),
    input: { chars, audioS: 0 },
    ...{ model, preset, lexicon, ...form },
    ...(language !== undefined && { language }),
    ...{ hasMouth: request.visemes ?? false, instructions: null, mannerHeader: null },
    ...(cautions.size > 0 && { cautions: [...cautions] }),
    ...(textVoices.size > 0 && { textVoices: Object.fromEntries(textVoices) }),
  };
}

function tooManyVoices({ field, param }: AskedLine): ServiceError {
  const problem = `names another voice, and the marks of a dialogue may name ${MAX_DIALOGUE_SPEAKERS}: use fewer`;
  return new ServiceError(400, `${field} ${problem}`, { param });
}

/** Reads the marks and instructions of a line. */
function readLine(
  line: AskedLine,
  card: ModelCard,
  lexicon: Lexicon,
  own: OwnVoice | undefined,
  cautions: Set<string>,
) {
  const { field } = line;
  const read = inLine(line, () => readMarkup(line.text, field, card, "text", lexicon, own));
  inLine(line, () => checkLength(read.unmarkedChars, MAX_SPEECH_CHARS, field));
  const hasWords = hasSpeakable(spokenText(read.piece));
  if (!hasWords) cautions.add(`${field} has nothing speakable: it is a pause`);
  for (const caution of read.cautions) cautions.add(`${field}: ${caution}`);
  const manner = readManner(line.instructions);
  const unfollowed = card.takes.manner === "words" ? [] : (manner?.unfollowed ?? []);
  for (const clause of unfollowed) cautions.add(`${field}: ${clause} is not followed`);
  return { ...read, hasWords, manner: manner?.asked };
}

function scriptLines(
  { script }: DialogueRequest,
  voices: ReadonlyMap<string, NamedMember>,
  cautions: Set<string>,
): AskedLine[] {
  if (script === undefined)
    throw fieldError("script", "is missing: send the dialogue as script, or as lines");
  const named = Array.from(voices.values(), ({ name }) => name);
  const { lines, directions } = parsedScript(script, named);
  if (lines.length === 0)
    throw fieldError("script", 'has no line to speak: write lines as in "Anna: Hello."');
  if (lines.length > MAX_DIALOGUE_LINES)
    throw fieldError(
      "script",
      `has ${lines.length} lines, and at most ${MAX_DIALOGUE_LINES} are allowed: send it in parts`,
    );
  const shown = directions.slice(0, MAX_LISTED).join(", ") + (directions.length > MAX_LISTED ? ", …" : "");
  if (shown !== "") cautions.add(`stage directions are not spoken: script line ${shown}`);
  return lines.map(({ speaker, text, from, number, direction, scene }) => ({
    ...{ speaker, text, from, scene, param: "script", voiceField: null },
    instructions: direction ?? undefined,
    field: `script line ${number}`,
  }));
}

const MAX_LISTED = 5;

function givenLines({ lines = [], script }: DialogueRequest): AskedLine[] {
  if (script !== undefined)
    throw new ServiceError(400, "script and lines are both given: send one of them", { param: "lines" });
  let from = 0;
  checkLength(countChars(lines.map(({ text }) => text).join("")), MAX_SCRIPT_CHARS, "lines");
  return lines.map(({ voice, text, instructions }, index) => {
    const [field, voiceField] = [`lines[${index}].text`, `lines[${index}].voice`];
    if (speakerKey(voice) === "") throw fieldError(voiceField, "is empty: name a voice");
    if (text.trim() === "") throw fieldError(field, "is empty: give words to speak");
    const line = { speaker: voice, text, instructions, scene: null, from, field, param: field, voiceField };
    from += text.length + 1;
    return line;
  });
}

interface NamedMember {
  readonly name: string;
  readonly voice: NamedVoice;
}

/** Returns the members of `voices` by the key of their names. Throws for two spellings of one name. */
function voicesByKey(voices: NonNullable<DialogueRequest["voices"]>): ReadonlyMap<string, NamedMember> {
  const byKey = new Map<string, NamedMember>();
  for (const [name, voice] of Object.entries(voices)) {
    const key = speakerKey(name);
    const other = byKey.get(key);
    const field = memberField("voices", name);
    if (key === "") throw fieldError(field, "has no name: name a speaker");
    if (other !== undefined)
      throw fieldError(field, `is the same speaker as ${quoted(other.name)}: leave one of them out`);
    byKey.set(key, { name, voice });
  }
  return byKey;
}

/**
 * Chooses the voice of each speaker: the one in `voices`, the one that its name names, or else the model's first of its
 * usual language that no other speaker has. With more speakers than voices, voices are shared.
 */
function castSpeakers(
  lines: readonly AskedLine[],
  voices: ReadonlyMap<string, NamedMember>,
  card: ModelCard,
  cautions: Set<string>,
): ReadonlyMap<string, DialogueSpeaker> {
  const firstLines = new Map<string, AskedLine>();
  for (const line of lines) {
    const key = speakerKey(line.speaker);
    if (!firstLines.has(key)) firstLines.set(key, line);
  }
  if (firstLines.size > MAX_DIALOGUE_SPEAKERS)
    throw fieldError(
      "script",
      `has ${firstLines.size} speakers, and at most ${MAX_DIALOGUE_SPEAKERS} can speak in one dialogue: send it in parts`,
    );
  for (const [key, { name }] of voices)
    if (!firstLines.has(key)) cautions.add(`${memberField("voices", name)} speaks no line`);
  const chosen = Array.from(firstLines, ([key, { speaker: name, voiceField }]) => {
    const member = voices.get(key);
    const isVoice = voiceField !== null || findModelVoice(name, card) !== null;
    const word = member === undefined ? (isVoice ? name : null) : voiceName(member.voice);
    const field = member ? memberField("voices", member.name) : (voiceField ?? "script");
    return { key, name, word, field };
  });
  const taken = new Set(chosen.map(({ word }) => word && findModelVoice(word, card)?.id));
  const usual = card.voices[0]?.language?.slice(0, 2);
  const speaking = card.voices.filter(({ language }) => language?.slice(0, 2) === usual);
  const free = speaking.filter(({ id }) => !taken.has(id));
  const spare = free.length === 0 ? speaking : free;
  let next = 0;
  const speakers = new Map<string, DialogueSpeaker>();
  for (const { key, name, word, field } of chosen) {
    const asked = word ?? spare[next++ % spare.length]!.id;
    const voice = findModelVoice(asked, card)?.name ?? asked;
    speakers.set(key, { name, voice, isChosen: word !== null, choice: chooseSpeaker(asked, field, card) });
  }
  if (next > free.length) cautions.add("there are more speakers than voices: some share one");
  return speakers;
}

/**
 * Returns the seconds of silence between two lines; `null` where the text itself asks for a pause. People answer after
 * about 0.2 s (Stivers et al., PNAS 106, 2009); an interruption comes sooner, a new scene later.
 */
function gapBetween(before: AskedLine, line: AskedLine, askedS: number | undefined): number | null {
  if (PAUSE_AT_END.test(before.text) || PAUSE_AT_START.test(line.text)) return null;
  if (line.scene !== null) return Math.max(GAP_S.scene, askedS ?? 0);
  if (speakerKey(before.speaker) === speakerKey(line.speaker)) return GAP_S.sameSpeaker;
  if (askedS !== undefined) return askedS;
  const mark = /([—–?!-]|\.{3})["'”’»)\]*_\s]*$/.exec(before.text.slice(-40).normalize("NFKC"));
  return GAP_S.after[mark?.[1] ?? "."] ?? GAP_S.answer;
}

const PAUSE_AT_END = /\[pause:[^\]]*\][^\p{L}\p{N}]*$/u;
const PAUSE_AT_START = /^[^\p{L}\p{N}[]*\[pause:/u;
const GAP_S = {
  scene: 1.1,
  sameSpeaker: 0.5,
  answer: 0.35,
  after: { "—": 0.1, "–": 0.1, "-": 0.1, "?": 0.25, "!": 0.25, "...": 0.7 } as Readonly<
    Record<string, number>
  >,
} as const;

function parsedScript(script: string, named: readonly string[]): ReturnType<typeof parseScript> {
  try {
    return parseScript(script, named);
  } catch (error) {
    if (error instanceof ScriptError) throw fieldError("script", error.message);
    throw error;
  }
}

/** Runs a check of a line; its errors name the field that the request has. */
function inLine<T>({ param }: AskedLine, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.param === param) throw error;
    throw new ServiceError(error.status, error.message, { param });
  }
}
