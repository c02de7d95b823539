import { PLAIN_MANNER, type RunManner } from "../../core/marked-text.ts";
import { characterCount } from "../characters.ts";
import { withoutPhonemes } from "../phonemes/given-phonemes.ts";
import { breakS, emphasised, gainOf, pitchOf, rateOf, TagReader } from "./attributes.ts";
import { type Boundary, MarkedTextBuilder } from "./marked-text-builder.ts";
import {
  ENGLISH_VOICES,
  type FindVoice,
  foundVoice,
  MarkupError,
  type ParsedMarkup,
  pauseMarks,
  type VoiceLanguages,
} from "./markup.ts";
import { type TextElement, textElement } from "./text-elements.ts";
import { dereferenced, parseXml, type Tag } from "./xml.ts";

/**
 * Parses SSML (Speech Synthesis Markup Language 1.1, W3C 2010, and 1.0 where it differs). Unknown elements cause a
 * caution and their content is spoken.
 *
 * @throws MarkupError that names line and column
 */
export function parseSsml(text: string, findVoice: FindVoice, languages = ENGLISH_VOICES): ParsedMarkup {
  const begin = text.length - text.trimStart().length;
  if (text[begin] !== "<")
    throw new MarkupError(text, begin, "SSML begins with <speak>: put <speak>…</speak> around it");
  const reader = new SsmlReader(text, findVoice, languages);
  parseXml(text, reader);
  return reader.end();
}

interface Style {
  readonly manner: RunManner;
  readonly voice: string | null;
}

interface Open {
  readonly name: string;
  readonly style: Style;
  readonly isSilent: boolean;
  readonly boundary: Boundary;
  readonly held: TextElement | null;
}

/** Elements that are valid and change nothing. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(["lang", "w", "token", "meta"]);
const PLAIN: Style = { manner: PLAIN_MANNER, voice: null };

class SsmlReader {
  readonly #text: string;
  readonly #findVoice: FindVoice;
  readonly #languages: VoiceLanguages;
  readonly #builder: MarkedTextBuilder;
  readonly #open: Open[] = [];
  readonly #tags: TagReader;
  #chars = 0;

  constructor(text: string, findVoice: FindVoice, languages: VoiceLanguages) {
    this.#text = text;
    this.#findVoice = findVoice;
    this.#languages = languages;
    this.#tags = new TagReader(text);
    this.#tags.accent = languages.accentOf(null);
    this.#builder = new MarkedTextBuilder(text);
    this.#builder.replace(text.length - text.trimStart().length, "");
  }

  end(): ParsedMarkup {
    return { piece: this.#builder.end(), spokenChars: this.#chars, cautions: this.#tags.cautions };
  }

  other(_from: number, to: number): void {
    if (this.#top?.held == null) this.#builder.replace(to, "");
  }

  text(from: number, to: number): void {
    const top = this.#top;
    if (top === undefined || top.isSilent) this.#builder.replace(to, "");
    else if (top.held !== null) this.#hold(top.held, from, to, decoded(this.#text.slice(from, to)));
    else this.#speak(from, to, true);
  }

  verbatim(_from: number, to: number, innerFrom: number, innerTo: number): void {
    const top = this.#top;
    if (top === undefined || top.isSilent) this.#builder.replace(to, "");
    else if (top.held !== null)
      this.#hold(top.held, innerFrom, innerTo, this.#text.slice(innerFrom, innerTo));
    else {
      this.#builder.replace(innerFrom, "");
      this.#speak(innerFrom, innerTo, false);
      this.#builder.replace(to, "");
    }
  }

  open(tag: Tag): void {
    const top = this.#top;
    if (top === undefined && tag.name !== "speak")
      throw this.#tags.refused(
        tag,
        "SSML begins with <speak>, not with another element: put it around the whole text",
      );
    if (top?.held != null)
      throw this.#tags.refused(tag, `<${top.name}> holds text alone: close it before another element begins`);
    const style = top?.style ?? PLAIN;
    const element: Open =
      top?.isSilent === true ? { ...top, name: tag.name } : this.#begin(tag, style, top === undefined);
    this.#builder.part(element.boundary);
    const said = this.#text[tag.to - 2] === "/" ? (element.held?.sayEmpty ?? "") : "";
    this.#chars += characterCount(withoutPhonemes(said));
    this.#builder.replace(tag.to, said);
    this.#open.push(element);
    this.#setRun(element.style);
  }

  close(name: string, from: number, to: number): void {
    const element = this.#open.pop()!;
    if (element.held !== null) {
      this.#release(element.held);
      // Self-closing elements, whose end has no length, were spoken when they were opened.
      if (element.held.from === null && to > from)
        this.#tags.caution({ name, attributes: {}, from, to }, "is empty: nothing is spoken for it");
    }
    this.#builder.replace(to, "");
    this.#builder.part(element.boundary);
    this.#setRun(this.#top?.style ?? PLAIN);
  }

  get #top(): Open | undefined {
    return this.#open.at(-1);
  }

  #setRun({ manner, voice }: Style): void {
    this.#tags.accent = this.#languages.accentOf(voice);
    this.#builder.setRun(manner === PLAIN_MANNER && voice === null ? null : { manner, voice });
  }

  #begin(tag: Tag, { manner, voice: outer }: Style, isRoot: boolean): Open {
    const { name, attributes } = tag;
    const tags = this.#tags;
    const style = { manner, voice: tags.voiceFor(tag, outer, this.#languages) };
    const held = textElement(tag, tags);
    const element = {
      name,
      style,
      isSilent: false,
      boundary: (style.voice === outer ? "none" : "space") as Boundary,
      held,
    };
    switch (name) {
      case "speak":
        if (!isRoot) this.#tags.caution(tag, "is ignored: it can only be around everything");
        return element;
      case "p":
      case "paragraph":
        return { ...element, boundary: "paragraph" };
      case "s":
      case "sentence":
        return { ...element, boundary: "sentence" };
      case "break":
        this.#builder.part("space");
        this.#builder.pause(this.#tags.value(tag, breakS(attributes.time, attributes.strength)));
        return element;
      case "mark":
        this.#builder.mark(this.#tags.required(tag, "name"));
        return element;
      case "prosody":
        return { ...element, style: { ...style, manner: prosody(tag, style.manner, tags) } };
      case "emphasis": {
        const level = attributes.level?.trim() ?? "moderate";
        return {
          ...element,
          style: { ...style, manner: this.#tags.value(tag, emphasised(level, style.manner)) },
        };
      }
      case "voice":
        return { ...element, boundary: "space", style: { ...style, voice: this.#voice(tag) ?? style.voice } };
      case "metadata":
      case "desc":
        return { ...element, isSilent: true };
      default:
        if (held === null && !WITHOUT_EFFECT.has(name))
          tags.caution(tag, "is ignored: its content is spoken");
        return element;
    }
  }

  #voice(tag: Tag): string | null {
    const { name } = tag.attributes;
    if (name === undefined || name.trim() === "") {
      this.#tags.caution(tag, "is ignored: voices are chosen by name");
      return null;
    }
    const asked = name.trim();
    const listed = asked.split(/\s+/);
    const names = listed.length === 1 ? listed : [asked, ...listed];
    return foundVoice(names, this.#text, tag.from, this.#findVoice);
  }

  #speak(from: number, to: number, hasReferences: boolean): void {
    let at = from;
    for (const pause of pauseMarks(this.#text, from, to)) {
      this.#words(at, pause.from, hasReferences);
      this.#builder.part("space");
      this.#builder.replace(pause.to, "");
      this.#builder.pause(pause.pauseS);
      at = pause.to;
    }
    this.#words(at, to, hasReferences);
  }

  /** Collapses white space, which has no meaning in SSML. */
  #words(from: number, to: number, hasReferences: boolean): void {
    const builder = this.#builder;
    const raw = this.#text.slice(from, to);
    // A reference counts as one character, within phonemes too.
    this.#chars += characterCount(withoutPhonemes(hasReferences ? decoded(raw) : raw));
    for (const { 0: token, index } of raw.matchAll(hasReferences ? REFERENCE_OR_SPACES : SPACES)) {
      builder.keep(from + index);
      const end = from + index + token.length;
      const isReference = token.startsWith("&");
      const character = isReference ? dereferenced(token) : " ";
      const isSpace = /^\s$/u.test(character);
      if (isSpace && builder.endsInSpace) builder.replace(end, "");
      else if (token === " ") builder.keep(end);
      else builder.replace(end, isSpace ? " " : character);
    }
    builder.keep(to);
  }

  #hold(element: TextElement, from: number, to: number, content: string): void {
    element.content += content;
    element.from ??= from;
    element.to = to;
  }

  #release({ content, from, to, say, isBilledAsSaid }: TextElement): void {
    const plain = content.trim().replaceAll(/\s+/gu, " ");
    const said = plain === "" ? null : say(plain);
    this.#chars += characterCount(isBilledAsSaid ? withoutPhonemes(said ?? content) : content);
    if (from === null) return;
    this.#builder.replace(from, "");
    if (said === null && this.#text.slice(from, to) === plain) this.#builder.keep(to);
    else this.#builder.replace(to, said ?? plain);
  }
}

function prosody(tag: Tag, around: RunManner, tags: TagReader): RunManner {
  const { rate, pitch, volume, ...rest } = tag.attributes;
  for (const name of ["contour", "range", "duration"])
    if (name in rest) tags.caution(tag, `${name} is ignored: rate, pitch and volume are followed`);
  return {
    ...around,
    ...(rate === undefined ? {} : { rate: tags.value(tag, rateOf(rate.trim(), around.rate), "rate") }),
    ...(pitch === undefined ? {} : tags.value(tag, pitchOf(pitch.trim(), around), "pitch")),
    ...(volume === undefined ? {} : { gain: tags.value(tag, gainOf(volume.trim(), around.gain), "volume") }),
  };
}

function decoded(text: string): string {
  return text.replaceAll(/&[^;]*;/g, dereferenced);
}

const REFERENCE_OR_SPACES = /&[^;]*;|\s+/gu;
const SPACES = /\s+/gu;
