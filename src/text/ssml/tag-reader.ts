import { MarkupError } from "./markup.ts";
import type { Read } from "./values.ts";
import type { Tag } from "./xml.ts";

/** Reads the attributes of a text's elements, and gathers what of them is not done. */
export class TagReader {
  readonly #text: string;
  readonly #cautions = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  /** Each told once, whatever number of times it is so; of very many the first. In ASCII. */
  get cautions(): readonly string[] {
    return [...this.#cautions];
  }

  /** @throws MarkupError where there is none, or one that is too long */
  required({ name: element, attributes, from }: Tag, name: string): string {
    const value = attributes[name];
    if (value === undefined || value.trim() === "")
      throw new MarkupError(this.#text, from, `<${element}> has no ${name}: give it one`);
    if (value.length <= MAX_VALUE_CHARS) return value;
    const problem = `${name} of <${element}> has more than ${MAX_VALUE_CHARS} characters: make it shorter`;
    throw new MarkupError(this.#text, from, problem);
  }

  /** A value, held to what a voice can do. @throws MarkupError for one that cannot be read */
  value<T>(tag: Tag, read: Read<T>, name = ""): T {
    if ("problem" in read) throw this.refused(tag, `<${tag.name}>: ${read.problem}`);
    if (read.isHeld === true) this.caution(tag, `${name} is limited to what the voice can do`);
    return read.value;
  }

  refused({ from }: Tag, problem: string): MarkupError {
    return new MarkupError(this.#text, from, problem);
  }

  /** @param what is not done, in words that go on from the element's name */
  caution({ name }: Tag, what: string): void {
    const shown = name.replaceAll(/[^\w:.-]/g, "?").slice(0, 40);
    if (this.#cautions.size < MAX_CAUTIONS) this.#cautions.add(`<${shown}> ${what}`);
  }

  checkLanguage(tag: Tag): void {
    const language = tag.attributes["xml:lang"]?.trim();
    if (language === undefined || language === "" || /^en(?:-|$)/i.test(language)) return;
    const shown = /^[A-Za-z0-9-]{1,20}$/.test(language) ? language : "here";
    this.caution(tag, `xml:lang ${shown} is ignored: English is spoken`);
  }
}

const MAX_CAUTIONS = 16;
/** Of a name or of what is said. */
const MAX_VALUE_CHARS = 1_000;
