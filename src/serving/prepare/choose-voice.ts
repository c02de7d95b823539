import { isVoiceId, nameKeyOf } from "../../accounts/store.ts";
import { fieldError, quoted, ServiceError } from "../../contract/errors.ts";
import { countChars, MAX_SPEAKER_CHARS } from "../../contract/limits.ts";
import type { ConversationTurn } from "../../contract/requests.ts";
import { memberField } from "../../contract/validate.ts";
import { type NamedVoice, parseVoice, type VoiceMixPart, voiceName } from "../../contract/voices.ts";
import type { SpeakerLabel } from "../../core/conversation.ts";
import { type ModelCard, type ModelVoice, voiceIdOf } from "../../core/model-card.ts";
import { nearestName } from "../../core/nearest-name.ts";
import type { ChosenVoice } from "../../core/script.ts";

/** The meaning of a request's `voice`, before custom voices are looked up. */
export interface VoiceChoice {
  /** Voice of the model; absent if the model has none of that name, or if `speaker` already stands for it. */
  readonly voice?: ChosenVoice;
  /** Label that stands for the voice; absent if none does. */
  readonly speaker?: SpeakerLabel;
  /** Name that the model does not have, so that it may be a custom voice's. */
  readonly customVoice?: CustomVoiceRef;
}

/** Custom voice, by the name in a request. */
export interface CustomVoiceRef {
  readonly name: string;
  /** Name of the field in messages. */
  readonly field: string;
  /** Field to name as `param` in errors, if `field` describes it at length. Default: `field`. */
  readonly param?: string;
}

export type ModelVoices = Pick<
  ModelCard,
  "id" | "speakers" | "voices" | "labels" | "languageLabels" | "others" | "takes"
>;

/**
 * Finds the model's voice that a `voice` names. Throws a 400 {@link ServiceError} for an unreadable or unknown voice,
 * naming the nearest, and for a mix if the model does not mix.
 *
 * @param field name in messages
 */
export function chooseVoice(word: string, field: string, cast: ModelVoices): VoiceChoice {
  const parts = parseVoice(word, field);
  if (parts.length > 1) return mixed(parts, field, cast);
  const { name } = parts[0]!;
  const voice = findModelVoice(name, cast);
  if (voice !== null) return alone(voice, cast);
  refuseOtherLanguage(name, field, cast);
  if (cast.takes.samples && name !== "") return { customVoice: { name, field } };
  if (isRemoteVoiceName(name, cast)) return { voice: remoteVoice(name) };
  throw unknownVoice({ name, field }, cast);
}

/**
 * Finds the voice for a turn whose label only decides the voice. If a label stands for the voice, returns that label
 * alone, so that all names of a voice give the same bytes.
 */
export function chooseSpeaker(word: string, field: string, cast: ModelVoices): VoiceChoice {
  const { speaker, ...choice } = chooseVoice(word, field, cast);
  return speaker === undefined ? choice : { speaker };
}

/**
 * Whether an unknown name is passed to the remote system. A name like a recording's id is not: it was a custom voice
 * here, and is deleted.
 */
export function isRemoteVoiceName(name: string, { takes }: Pick<ModelVoices, "takes">): boolean {
  return takes.anyName === true && name !== "" && !isVoiceId(name);
}

export function remoteVoice(name: string): ChosenVoice {
  return [{ weight: 1, id: name }];
}

/** Throws a 400 for a voice of another language than the request's. */
function refuseOtherLanguage(name: string, field: string, { others = [], voices }: ModelVoices): void {
  const other = findModelVoice(name, { voices: others });
  if (other === null) return;
  const problem = `${quoted(name)} speaks ${quoted(other.language ?? "")}, and language asks for another`;
  throw fieldError(field, `${problem}: leave one of them out, or name one of ${listOf(voices, [])}`);
}

/** Returns a 400 for an unknown voice. @param others further names that are valid */
export function unknownVoice(
  { name, field, param = field }: CustomVoiceRef,
  cast: ModelVoices,
  others: readonly string[] = [],
): ServiceError {
  const names = [...cast.voices.flatMap(({ id, name: own, aliases }) => [id, own, ...aliases]), ...others];
  const near = name.length < MIN_NEAR_CHARS ? null : nearestName(name, names);
  const listed = `the voices are ${listOf(cast.voices, others)}`;
  const remedy = near === null ? listed : `did you mean ${quoted(near)}? T${listed.slice(1)}`;
  return new ServiceError(400, `${field} ${quoted(name)} is unknown: ${remedy}`, { param });
}

/** Throws as {@link chooseVoice} does unless `word` names a voice of the model or one of the recordings. */
export function checkVoice(word: string, field: string, cast: ModelVoices, known: readonly string[]): void {
  const { customVoice: own } = chooseVoice(word, field, cast);
  if (own === undefined || isVoiceId(own.name) || isRemoteVoiceName(own.name, cast)) return;
  const key = nameKeyOf(own.name);
  if (!known.some((name) => nameKeyOf(name) === key)) throw unknownVoice(own, cast, known);
}

/** Shorter names are near to every other. */
const MIN_NEAR_CHARS = 3;
/** Voices that a message lists. */
const MAX_LISTED = 18;

/**
 * Finds a voice by its id, OpenAI's name for it, its own name (which may be OpenAI's for another), or a label for it.
 */
export function findModelVoice(
  name: string,
  cast: Pick<ModelVoices, "voices" | "labels">,
): ModelVoice | null {
  const { voices } = cast;
  // The embedded voice's first thirteen were called "Speaker 0" and so on before they had names.
  const asked = nameKeyOf(name).replace(/^speaker (?=(?:\d|1[0-2])$)/, "");
  const isAsked = (each: string): boolean => nameKeyOf(each) === asked;
  return (
    voices.find(({ id }) => isAsked(id)) ??
    voices.find(({ aliases }) => aliases.some(isAsked)) ??
    voices.find(({ name: own }) => isAsked(own)) ??
    voices.find(({ id }) => id === voiceIdOf(name, cast)) ??
    null
  );
}

function alone({ id }: ModelVoice, cast: ModelVoices): VoiceChoice {
  const voice = [{ weight: 1, id }];
  const speaker = cast.speakers.find((label) => voiceIdOf(label, cast) === id);
  return speaker === undefined ? { voice } : { voice, speaker };
}

function mixed(parts: readonly VoiceMixPart[], field: string, cast: ModelVoices): VoiceChoice {
  const weights = new Map<ModelVoice, number>();
  for (const { name, weight } of parts) {
    const voice = findModelVoice(name, cast);
    if (voice === null) refuseOtherLanguage(name, field, cast);
    if (voice === null) throw notToMix({ name, field }, cast);
    weights.set(voice, (weights.get(voice) ?? 0) + weight);
  }
  const voices = [...weights];
  // Several names of one voice are not a mix.
  if (voices.length === 1) return alone(voices[0]![0], cast);
  if (!cast.takes.mixes) {
    throw fieldError(
      field,
      `asks for a mix, and the model ${cast.id} speaks with one voice at a time: name one of ${listOf(cast.voices, [])}`,
    );
  }
  const sum = voices.reduce((all, [, weight]) => all + weight, 0);
  return { voice: voices.map(([{ id }, weight]) => ({ weight: weight / sum, id })) };
}

function notToMix(asked: CustomVoiceRef, cast: ModelVoices): ServiceError {
  const { status, message, param } = unknownVoice(asked, cast);
  const rule = `A mix is of voices of the model ${cast.id} alone, not of another model's or your own`;
  return new ServiceError(status, `${message}. ${rule}`, { param });
}

export function listOf(voices: readonly ModelVoice[], others: readonly string[]): string {
  const all = [...voices.map(listedName), ...others.map(quoted)];
  const left = all.length - MAX_LISTED;
  const shown = all.slice(0, MAX_LISTED).join(", ");
  return left <= 0 ? shown : `${shown} and ${left} more, which GET /v1/audio/voices lists`;
}

/** Returns the voice's own name as a value of `voice`: in lower case, or its id if the name has several words. */
function listedName({ id, name }: ModelVoice): string {
  return name.includes(" ") ? id : name.toLowerCase();
}

/** Turns with their voices as a request names them. */
interface CastTurns {
  /** Turns whose labels are positions. */
  readonly turns: readonly ConversationTurn[];
  /** Label of the last turn in the request, which may be a name. */
  readonly speaker: string;
  readonly choice: VoiceChoice;
  /** Custom voices of speakers other than the open one. */
  readonly others: readonly CustomVoiceRef[];
}

interface NamedVoices {
  readonly turns: readonly ConversationTurn[];
  /** Voice of the only turn, whatever its label. */
  readonly voice?: NamedVoice | undefined;
  /** Voices by speaker label. */
  readonly voices?: Readonly<Record<string, NamedVoice>> | undefined;
  /** Names of the fields of a text-to-speech request; absent for a conversation. */
  readonly fields?: { readonly voice: string };
}

/** Returns the turns with their labels, and the voice of the last one unless its label decides. */
export function castTurns({ turns, voice, voices = {}, fields }: NamedVoices, card: ModelVoices): CastTurns {
  if (fields !== undefined) {
    const { speaker = turns[0]?.speaker ?? "0", ...choice } =
      voice === undefined ? {} : chooseSpeaker(voiceName(voice), fields.voice, card);
    const cast = { turns: [{ ...turns[0], speaker }], speaker, choice, others: [] };
    if (card.speakers.includes(speaker)) return cast;
    throw fieldError(
      "speaker",
      `must be one of the model's speakers: ${card.speakers.map(quoted).join(", ")}`,
    );
  }
  const { speaker = "0" } = turns.at(-1) ?? {};
  const positions = positionsOf(turns, voices, card);
  const labels = new Set([...positions.keys(), ...card.speakers]);
  let choice: VoiceChoice = {};
  const others: CustomVoiceRef[] = [];
  for (const [label, named] of Object.entries(voices)) {
    const field = memberField("voices", label);
    if (!labels.has(label)) {
      const shown = Array.from(labels, quoted).slice(0, MAX_LISTED).join(", ");
      throw fieldError(field, `names no speaker of the conversation or the model: name one of ${shown}`);
    }
    const chosen = chooseVoice(voiceName(named), field, card);
    if (label === speaker) choice = chosen;
    else if (chosen.customVoice !== undefined) others.push(chosen.customVoice);
  }
  const positioned = turns.map((turn) => ({ ...turn, speaker: positions.get(turn.speaker ?? "0")! }));
  return { turns: positioned, speaker, choice, others };
}

/**
 * Returns the position of each label. The model's labels keep theirs, and names get the unused ones, then "2", "3" and
 * so on. Engines may look up the open turn's position, so that it is always one of the model's.
 */
function positionsOf(
  turns: readonly ConversationTurn[],
  voices: Readonly<Record<string, NamedVoice>>,
  { speakers, voices: [example] }: ModelVoices,
): ReadonlyMap<string, SpeakerLabel> {
  const labels = turns.map(({ speaker = "0" }) => speaker);
  const free = speakers.filter((label) => !labels.includes(label));
  const positions = new Map<string, SpeakerLabel>();
  let next = speakers.length;
  for (const [index, label] of labels.entries()) {
    if (positions.has(label)) continue;
    const field = `conversation[${index}].speaker`;
    const isName = !speakers.includes(label);
    if (isName && (label.trim() === "" || countChars(label) > MAX_SPEAKER_CHARS))
      throw fieldError(field, `must be a name of 1 to ${MAX_SPEAKER_CHARS} characters`);
    if (isName && !Object.hasOwn(voices, label)) {
      const known = speakers.map(quoted).join(", ");
      const remedy = `give it a voice in voices, as in {${quoted(label)}: ${quoted(listedName(example!))}}`;
      throw fieldError(field, `${quoted(label)} is none of the model's speakers (${known}): ${remedy}`);
    }
    positions.set(label, isName ? (free.shift() ?? `${next++}`) : label);
  }
  const open = labels.at(-1)!;
  const position = positions.get(open)!;
  if (speakers.includes(position)) return positions;
  const [other] = [...positions].find(([, each]) => each === speakers[0])!;
  return positions.set(open, speakers[0]!).set(other, position);
}
