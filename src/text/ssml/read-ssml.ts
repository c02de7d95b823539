import { nearest } from "../../collections/nearest.ts";
import { PLAIN_MANNER, type RunManner } from "../../model/marked-text.ts";
import { characterCount } from "../characters.ts";
import { describeFault } from "../given-phonemes.ts";
import { type Boundary, MarkedBuilder } from "../marked-builder.ts";
import { type FindVoice, MarkupError, placeIn, type ReadMarks } from "../markup.ts";
import { pauseMarks } from "../pause-marks.ts";
import { nearestPhonemes } from "./ipa.ts";
import { INTERPRETATIONS, isKnownKind, saidAs } from "./say-as.ts";
import { breakS, emphasised, gainOf, pitchOf, type Read, rateOf } from "./values.ts";
import { dereferenced, readXml, type Tag } from "./xml.ts";

/**
 * Reads SSML (Speech Synthesis Markup Language 1.1, W3C 2010; what 1.0 wrote otherwise too) into a marked text. Elements that it
 * does not know are passed over, with a caution, and what is in them is spoken.
 *
 * @throws MarkupError that names line and column
 */
export function readSsml(text: string, findVoice: FindVoice): ReadMarks {
  const begin = text.length - text.trimStart().length;
  if (text[begin] !== "<")
    throw new MarkupError(text, begin, "SSML begins with <speak>: put <speak>…</speak> around it");
  const reader = new SsmlReader(text, findVoice);
  readXml(text, reader);
  return reader.end();
}

/** How what is in an element is spoken. */
interface Style {
  readonly manner: RunManner;
  readonly voice: string | null;
}

/** An element that is open. */
interface Open {
  readonly name: string;
  readonly style: Style;
  /** Whether nothing in it is spoken. */
  readonly isSilent: boolean;
  /** What parts its words from those behind it. */
  readonly boundary: Boundary;
  /** Of one that holds text alone: how it is spoken, and what of it has come. */
  readonly held: Held | null;
}

interface Held {
  /** What is spoken for some text; `null` leaves the text as it is. */
  readonly say: (content: string) => string | null;
  readonly isBilledAsSaid: boolean;
  content: string;
  from: number | null;
  to: number;
}

const PLAIN: Style = { manner: PLAIN_MANNER, voice: null };

class SsmlReader {
  readonly #text: string;
  readonly #findVoice: FindVoice;
  readonly #builder: MarkedBuilder;
  readonly #open: Open[] = [];
  readonly #cautions = new Set<string>();
  #chars = 0;

  constructor(text: string, findVoice: FindVoice) {
    this.#text = text;
    this.#findVoice = findVoice;
    this.#builder = new MarkedBuilder(text);
    this.#builder.replace(text.length - text.trimStart().length, "");
  }

  end(): ReadMarks {
    return { piece: this.#builder.end(), spokenChars: this.#chars, cautions: [...this.#cautions] };
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
      throw new MarkupError(
        this.#text,
        tag.from,
        `SSML begins with <speak>, and not with another element: put everything into one`,
      );
    if (top?.held != null)
      throw new MarkupError(
        this.#text,
        tag.from,
        `<${top.name}> holds text alone: close it before another element begins`,
      );
    const style = top?.style ?? PLAIN;
    const element: Open =
      top?.isSilent === true ? { ...top, name: tag.name } : this.#begin(tag, style, top === undefined);
    this.#builder.part(element.boundary);
    this.#builder.replace(tag.to, "");
    this.#open.push(element);
    this.#setRun(element.style);
  }

  close(_name: string, _from: number, to: number): void {
    const element = this.#open.pop()!;
    if (element.held !== null) this.#release(element.held);
    this.#builder.replace(to, "");
    this.#builder.part(element.boundary);
    this.#setRun(this.#top?.style ?? PLAIN);
  }

  get #top(): Open | undefined {
    return this.#open.at(-1);
  }

  #setRun({ manner, voice }: Style): void {
    this.#builder.setRun(manner === PLAIN_MANNER && voice === null ? null : { manner, voice });
  }

  #begin(tag: Tag, style: Style, isRoot: boolean): Open {
    const { name, attributes } = tag;
    const element = { name, style, isSilent: false, boundary: "none" as Boundary, held: null };
    this.#checkLanguage(tag);
    switch (name) {
      case "speak":
        if (!isRoot) this.#caution(tag, "is passed over: it can only be around everything");
        return element;
      case "p":
      case "paragraph":
        return { ...element, boundary: "paragraph" };
      case "s":
      case "sentence":
        return { ...element, boundary: "sentence" };
      case "break":
        this.#builder.part("space");
        this.#builder.pause(this.#value(tag, breakS(attributes.time, attributes.strength)));
        return element;
      case "mark":
        this.#builder.mark(this.#required(tag, "name"));
        return element;
      case "sub": {
        const alias = this.#required(tag, "alias");
        return { ...element, held: held(() => alias, true) };
      }
      case "say-as":
        return { ...element, held: this.#sayAs(tag) };
      case "phoneme":
        return { ...element, held: this.#phoneme(tag) };
      case "prosody":
        return { ...element, style: this.#prosody(tag, style) };
      case "emphasis": {
        const level = attributes.level?.trim() ?? "moderate";
        return { ...element, style: { ...style, manner: this.#value(tag, emphasised(level, style.manner)) } };
      }
      case "voice":
        return { ...element, boundary: "space", style: { ...style, voice: this.#voice(tag) ?? style.voice } };
      case "lang":
      case "w":
      case "token":
        return element;
      case "metadata":
      case "desc":
        return { ...element, isSilent: true };
      case "meta":
        return element;
      default:
        this.#caution(tag, "is passed over: what is in it is spoken");
        return element;
    }
  }

  #sayAs(tag: Tag): Held {
    const kind = this.#required(tag, "interpret-as").trim().toLowerCase();
    const known = isKnownKind(kind) ?? (kind.startsWith("vxml:") ? isKnownKind(kind.slice(5)) : null);
    if (known === null) {
      const near = nearest(kind.slice(0, 40), INTERPRETATIONS);
      const usual = USUAL_INTERPRETATIONS.join(", ");
      const remedy = near === null ? `write one of ${usual}` : `did you mean ${near}? Write one of ${usual}`;
      throw new MarkupError(this.#text, tag.from, `interpret-as of <say-as> is unknown: ${remedy}`);
    }
    if (known === "left") this.#caution(tag, `${kind} is read as text`);
    const format = (tag.attributes.format ?? "").trim().toLowerCase();
    const say = (content: string): string | null => {
      const said = saidAs(kind.replace(/^vxml:/, ""), format, content);
      if (said === null) this.#caution(tag, `${kind} does not fit what is in it, which is read as text`);
      return said;
    };
    return held(say, false);
  }

  #phoneme(tag: Tag): Held {
    const alphabet = (tag.attributes.alphabet ?? "ipa").trim().toLowerCase();
    const written = this.#required(tag, "ph").trim();
    if (alphabet !== "ipa") {
      this.#caution(tag, "is passed over: phonemes are read in the alphabet ipa alone");
      return held(() => null, false);
    }
    const read = nearestPhonemes(written);
    if ("why" in read) throw new MarkupError(this.#text, tag.from, describeFault(read, 0, " of ph"));
    return held((content) => `[${content.replaceAll(/[[\]]/g, "")}](/${read.phonemes}/)`, false);
  }

  #prosody(tag: Tag, { manner, voice }: Style): Style {
    const { rate, pitch, volume, ...rest } = tag.attributes;
    const own = {
      ...manner,
      ...(rate === undefined ? {} : { rate: this.#value(tag, rateOf(rate.trim(), manner.rate), "rate") }),
      ...(pitch === undefined ? {} : this.#value(tag, pitchOf(pitch.trim(), manner), "pitch")),
      ...(volume === undefined
        ? {}
        : { gain: this.#value(tag, gainOf(volume.trim(), manner.gain), "volume") }),
    };
    for (const name of ["contour", "range", "duration"])
      if (name in rest) this.#caution(tag, `${name} is passed over: rate, pitch and volume are followed`);
    return { manner: own, voice };
  }

  #voice(tag: Tag): string | null {
    const { name } = tag.attributes;
    if (name === undefined || name.trim() === "") {
      this.#caution(tag, "is passed over: voices are chosen by their name alone");
      return null;
    }
    const asked = name.trim();
    const listed = asked.split(/\s+/);
    try {
      return this.#findVoice(
        listed.length === 1 ? listed : [asked, ...listed],
        placeIn(this.#text, tag.from),
      );
    } catch (error) {
      throw error instanceof Error ? new MarkupError(this.#text, tag.from, error.message) : error;
    }
  }

  #checkLanguage(tag: Tag): void {
    const language = tag.attributes["xml:lang"]?.trim();
    if (language === undefined || language === "" || /^en(?:-|$)/i.test(language)) return;
    this.#caution(
      tag,
      `xml:lang ${/^[A-Za-z0-9-]{1,20}$/.test(language) ? language : "here"} is passed over: English is spoken`,
    );
  }

  #required(tag: Tag, name: string): string {
    const value = tag.attributes[name];
    if (value === undefined || value.trim() === "")
      throw new MarkupError(this.#text, tag.from, `<${tag.name}> has no ${name}: give it one`);
    if (value.length > MAX_VALUE_CHARS)
      throw new MarkupError(
        this.#text,
        tag.from,
        `${name} of <${tag.name}> has more than ${MAX_VALUE_CHARS} characters: make it shorter`,
      );
    return value;
  }

  #value<T>(tag: Tag, read: Read<T>, name = ""): T {
    if ("problem" in read) throw new MarkupError(this.#text, tag.from, `<${tag.name}>: ${read.problem}`);
    if (read.isHeld === true) this.#caution(tag, `${name} is held to what the voice can do`);
    return read.value;
  }

  /** Told once, whatever number of times it is so; of very many the first. */
  #caution({ name }: Tag, what: string): void {
    const shown = name.replaceAll(/[^\w:.-]/g, "?").slice(0, 40);
    if (this.#cautions.size < MAX_CAUTIONS) this.#cautions.add(`<${shown}> ${what}`);
  }

  /** Text that is spoken, with its pauses. */
  #speak(from: number, to: number, hasReferences: boolean): void {
    const raw = this.#text.slice(from, to);
    let at = from;
    for (const pause of raw.includes("[pause:") ? this.#pausesIn(raw, from) : []) {
      this.#words(at, pause.from, hasReferences);
      this.#builder.part("space");
      this.#builder.replace(pause.to, "");
      this.#builder.pause(pause.pauseS);
      at = pause.to;
    }
    this.#words(at, to, hasReferences);
  }

  /** One space for each run of spaces, since lines mean nothing here. */
  #words(from: number, to: number, hasReferences: boolean): void {
    const builder = this.#builder;
    const raw = this.#text.slice(from, to);
    this.#chars += characterCount(raw);
    for (const { 0: token, index } of raw.matchAll(hasReferences ? REFERENCE_OR_SPACES : SPACES)) {
      builder.keep(from + index);
      const end = from + index + token.length;
      const isReference = token.startsWith("&");
      const character = isReference ? dereferenced(token) : " ";
      if (isReference) this.#chars += 1 - token.length;
      const isSpace = /^\s$/u.test(character);
      if (isSpace && builder.endsInSpace) builder.replace(end, "");
      else if (token === " ") builder.keep(end);
      else builder.replace(end, isSpace ? " " : character);
    }
    builder.keep(to);
  }

  #pausesIn(raw: string, from: number) {
    try {
      return pauseMarks(raw).map((mark) => ({ ...mark, from: from + mark.from, to: from + mark.to }));
    } catch (error) {
      // Told with its place in all of the text.
      if (error instanceof MarkupError) pauseMarks(`${blanked(this.#text.slice(0, from))}${raw}`);
      throw error;
    }
  }

  #hold(element: Held, from: number, to: number, content: string): void {
    element.content += content;
    element.from ??= from;
    element.to = to;
  }

  /** Speaks what an element held. */
  #release({ content, from, to, say, isBilledAsSaid }: Held): void {
    const plain = content.trim().replaceAll(/\s+/gu, " ");
    const said = plain === "" ? null : say(plain);
    this.#chars += characterCount(isBilledAsSaid ? (said ?? content) : content);
    if (from === null) return;
    this.#builder.replace(from, "");
    if (said === null && this.#text.slice(from, to) === plain) this.#builder.keep(to);
    else this.#builder.replace(to, said ?? plain);
  }
}

function held(say: Held["say"], isBilledAsSaid: boolean): Held {
  return { say, isBilledAsSaid, content: "", from: null, to: 0 };
}

function decoded(text: string): string {
  return text.replaceAll(/&[^;]*;/g, dereferenced);
}

/** As long, on as many lines, and without marks. */
function blanked(text: string): string {
  return text.replaceAll("[", " ");
}

const REFERENCE_OR_SPACES = /&[^;]*;|\s+/gu;
const SPACES = /\s+/gu;
const USUAL_INTERPRETATIONS = ["characters", "digits", "cardinal", "ordinal", "date", "time", "telephone"];
const MAX_CAUTIONS = 16;
/** Of a name or of what is said. */
const MAX_VALUE_CHARS = 1_000;
