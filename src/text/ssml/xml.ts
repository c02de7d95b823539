import { SaxesParser } from "saxes";
import { wordMap } from "../characters.ts";
import { MarkupError } from "./markup.ts";

/** Receives the parts of a document in order. Positions are UTF-16 units of the whole text. */
export interface XmlEvents {
  /** Character data with its references undecoded. Never empty. */
  text(from: number, to: number): void;
  verbatim(from: number, to: number, innerFrom: number, innerTo: number): void;
  open(tag: Tag): void;
  close(name: string, from: number, to: number): void;
  other(from: number, to: number): void;
}

export interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly from: number;
  readonly to: number;
}

/** Limits on nesting and on attributes per element. */
export const MAX_DEPTH = 64;
export const MAX_ATTRIBUTES = 32;

/**
 * Parses well-formed XML without a document type, so that only XML's five entities exist and none can expand. Linear
 * in the text. Limits are checked early.
 *
 * @throws MarkupError for text that is not well-formed or exceeds a limit
 */
export function parseXml(text: string, events: XmlEvents): void {
  const begin = text.length - text.trimStart().length;
  const parser = new SaxesParser();
  const opened: { readonly name: string; readonly at: number }[] = [];
  const ssmlPrefixes = new Set<string>();
  /** Returns the name without its prefix if that is bound to the namespace of SSML. */
  const localName = (name: string): string => {
    const colon = name.indexOf(":");
    return colon > 0 && ssmlPrefixes.has(name.slice(0, colon)) ? name.slice(colon + 1) : name;
  };
  let cursor = begin;
  let attributes = 0;
  /** Returns the range of the tag just parsed, which begins at the next "<". */
  const take = (): { from: number; to: number } => {
    const from = text.indexOf("<", cursor);
    // The parser has not yet consumed the last character of a comment.
    const to = text.indexOf(">", begin + parser.position - 1) + 1;
    if (from > cursor) events.text(cursor, from);
    cursor = to;
    return { from, to };
  };
  const other = () => {
    const { from, to } = take();
    events.other(from, to);
  };
  parser.on("error", ({ message }) => {
    const section = unclosedSection(text, cursor);
    const end = section === null ? begin + parser.position : text.indexOf("<", cursor);
    const ampersand = text.slice(cursor, end).search(BARE_AMPERSAND);
    if (ampersand >= 0)
      throw new MarkupError(text, cursor + ampersand, "this & begins no valid reference: write &amp;");
    if (section !== null) throw section;
    throw notWellFormed(text, begin + parser.position, message, opened.at(-1));
  });
  parser.on("xmldecl", other);
  parser.on("comment", other);
  parser.on("processinginstruction", other);
  parser.on("doctype", () => {
    throw new MarkupError(
      text,
      text.indexOf("<", cursor),
      "a document type (<!DOCTYPE …>) is not read: leave it out",
    );
  });
  parser.on("cdata", () => {
    const { from, to } = take();
    events.verbatim(from, to, from + "<![CDATA[".length, to - "]]>".length);
  });
  parser.on("attribute", ({ name }) => {
    attributes += 1;
    if (attributes <= MAX_ATTRIBUTES && name.length <= MAX_NAME_CHARS) return;
    const problem =
      attributes > MAX_ATTRIBUTES
        ? `an element may have at most ${MAX_ATTRIBUTES} attributes: leave some out`
        : `a name may have at most ${MAX_NAME_CHARS} characters: make it shorter`;
    throw new MarkupError(text, text.indexOf("<", cursor), problem);
  });
  parser.on("opentag", ({ name, attributes: given }) => {
    const { from, to } = take();
    if (opened.length === MAX_DEPTH)
      throw new MarkupError(text, from, `elements may lie at most ${MAX_DEPTH} deep: take some away`);
    opened.push({ name, at: from });
    attributes = 0;
    for (const [attribute, value] of Object.entries(given)) {
      if (attribute.startsWith("xmlns:") && value === SSML_NAMESPACE)
        ssmlPrefixes.add(attribute.slice("xmlns:".length));
    }
    events.open({ name: localName(name), attributes: given, from, to });
  });
  parser.on("closetag", ({ name }) => {
    // A self-closing tag was consumed when it was opened.
    const { from, to } = cursor === begin + parser.position ? { from: cursor, to: cursor } : take();
    opened.pop();
    if (to > from && text.slice(from, to).replace(/[\s>]+$/, "") !== `</${name}`) {
      const problem = `this closes another element than <${shown(name)}>, which is open: write </${shown(name)}> first`;
      throw new MarkupError(text, from, problem);
    }
    events.close(localName(name), from, to);
  });
  parser.write(text.slice(begin)).close();
  if (cursor < text.length) events.other(cursor, text.length);
}

/** Decodes a character reference or one of XML's five entities. */
export function dereferenced(reference: string): string {
  const [, hex, decimal] = /^&#(?:x([\da-f]+)|(\d+));$/i.exec(reference) ?? [];
  if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
  if (decimal !== undefined) return String.fromCodePoint(Number.parseInt(decimal, 10));
  return ENTITIES.get(reference) ?? reference;
}

const ENTITIES = wordMap("&amp; &,&lt; <,&gt; >,&quot; \",&apos; '");

const BARE_AMPERSAND = /&(?!(?:[a-z][\w.-]*|#\d+|#x[\da-f]+);)/i;
const MAX_NAME_CHARS = 100;

const SSML_NAMESPACE = "http://www.w3.org/2001/10/synthesis";

const SECTIONS = [
  ["<!--", "-->", "comment"],
  ["<![CDATA[", "]]>", "CDATA section"],
  ["<?", "?>", "processing instruction"],
] as const;

/** Returns the error if a comment, CDATA section or instruction begins next and never ends; else `null`. */
function unclosedSection(text: string, cursor: number): MarkupError | null {
  const at = text.indexOf("<", cursor);
  const section = SECTIONS.find(([begin, end]) => text.startsWith(begin, at) && !text.includes(end, at));
  if (at < 0 || section === undefined) return null;
  return new MarkupError(text, at, `this ${section[2]} is never closed: end it with ${section[1]}`);
}

function notWellFormed(
  text: string,
  at: number,
  message: string,
  open: { readonly name: string; readonly at: number } | undefined,
): MarkupError {
  const problem = message.replace(/^\d+:\d+: /, "").replace(/\.$/, "");
  if (problem.startsWith("unclosed tag") && open !== undefined)
    return new MarkupError(
      text,
      open.at,
      `<${shown(open.name)}> is never closed: end it with </${shown(open.name)}>`,
    );
  if (problem.startsWith("undefined entity"))
    return new MarkupError(
      text,
      at,
      "an entity here is not one of XML's own: write its character, and & as &amp;",
    );
  return new MarkupError(
    text,
    Math.max(0, at - 1),
    `this is not well-formed XML (${ascii(problem)}): write & as &amp; and < as &lt;`,
  );
}

function shown(name: string): string {
  return ascii(name).slice(0, 40);
}

function ascii(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 120);
}
