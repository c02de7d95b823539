import { nearestName } from "../../core/nearest-name.ts";
import { wordMap } from "../characters.ts";
import type { Accent } from "../phonemes/accent.ts";
import {
  describeFault,
  type GivenPhonemes,
  isPhonetic,
  readGivenPhonemes,
} from "../phonemes/given-phonemes.ts";
import type { TagReader } from "./attributes.ts";
import { INTERPRETATIONS, sayAsWords, supportOf } from "./say-as.ts";
import type { Tag } from "./xml.ts";

/** An element that holds text only, while its text arrives. */
export interface TextElement {
  /** Returns the spoken text, which may have inline phonemes; `null` keeps the content. */
  readonly say: (content: string) => string | null;
  /** Spoken text of an empty element such as `<sub alias="…"/>`. */
  readonly sayEmpty?: string;
  /** Whether the spoken text is billed rather than the content. */
  readonly isBilledAsSaid: boolean;
  content: string;
  from: number | null;
  to: number;
}

/** Returns `null` for an element that may hold others. @throws MarkupError */
export function textElement(tag: Tag, tags: TagReader): TextElement | null {
  switch (tag.name) {
    case "sub": {
      const alias = tags.required(tag, "alias");
      return { ...held(() => alias, true), sayEmpty: alias };
    }
    case "say-as":
      return held(sayAs(tag, tags));
    case "phoneme": {
      const say = phoneme(tag, tags);
      return { ...held(say), sayEmpty: say("a") ?? "" };
    }
    default:
      return null;
  }
}

function held(say: TextElement["say"], isBilledAsSaid = false): TextElement {
  return { say, isBilledAsSaid, content: "", from: null, to: 0 };
}

function sayAs(tag: Tag, tags: TagReader): TextElement["say"] {
  const kind = tags
    .required(tag, "interpret-as")
    .trim()
    .toLowerCase()
    .replace(/^vxml:/, "");
  const known = supportOf(kind);
  if (known === null) {
    const near = nearestName(kind.slice(0, 40), INTERPRETATIONS);
    const usual = USUAL.join(", ");
    const remedy = near === null ? `write one of ${usual}` : `did you mean ${near}? Write one of ${usual}`;
    throw tags.refused(tag, `interpret-as of <say-as> is unknown: ${remedy}`);
  }
  if (known === "left") tags.caution(tag, `${kind} is read as text`);
  const format = (tag.attributes.format ?? "").trim().toLowerCase();
  // The words of other interpretations are English: other languages read the text as it stands.
  if (tags.accent !== undefined)
    return (content) => (SPELLED.test(kind) ? Array.from(content).join(" ") : null);
  return (content) => {
    const said = sayAsWords(kind, format, content);
    if (said === null) tags.caution(tag, `${kind} does not fit its content, which is read as text`);
    return said;
  };
}

const SPELLED = /^(?:characters|spell-out|verbatim|digits)$/;
const USUAL = ["characters", "digits", "cardinal", "ordinal", "date", "time", "telephone"];

function phoneme(tag: Tag, tags: TagReader): TextElement["say"] {
  const written = tags.required(tag, "ph").trim();
  if ((tag.attributes.alphabet ?? "ipa").trim().toLowerCase() !== "ipa") {
    tags.caution(tag, "is ignored: the only alphabet for phonemes is ipa");
    return () => null;
  }
  const read = nearestPhonemes(written, tags.accent);
  if ("why" in read) throw tags.refused(tag, describeFault(read, 0, " of ph"));
  return (content) => `[${content.replaceAll(/[[\]]/g, "")}](/${read.phonemes}/)`;
}

/** Maps IPA phonemes to the nearest ones of an accent or language, by default of American English, or returns what is wrong with them. */
export function nearestPhonemes(
  ipa: string,
  accent?: Accent,
): { readonly phonemes: string } | Exclude<GivenPhonemes, { phonemes: string }> {
  const known = readGivenPhonemes(ipa, accent);
  const read = "phonemes" in known ? known : readGivenPhonemes(nearestSounds(ipa), accent);
  if ("why" in read) return "why" in known ? known : read;
  // An added length mark is silent, and distinguishes the phonemes from an address.
  return { phonemes: isPhonetic(read.phonemes) ? read.phonemes : `${read.phonemes}ː` };
}

function nearestSounds(ipa: string): string {
  const plain = ipa
    .normalize("NFD")
    .replaceAll(/([szc])\u0327/g, (_, base: string) => (base === "c" ? "ç" : base))
    .replaceAll(/(?![\u0361\u035c\u0329])\p{M}/gu, "")
    .replaceAll(SILENT, "");
  return Array.from(plain, (sound) => NEAREST.get(sound) ?? sound).join("");
}

/** Half length, tones, ties, breaks, aspiration and the like, which the voice's alphabet lacks. */
const SILENT = /[ˑ‿|‖↗↘˥˦˧˨˩ꜛꜜʰʷʲˠˤⁿˡ˞()/[\]-]/gu;

const NEAREST: ReadonlyMap<string, string> = new Map([
  ...wordMap(
    "y i,ʏ ɪ,ø ɛ,œ ɛ,ɶ æ,ɘ ə,ɵ ə,ɤ ʌ,ɯ u,ʉ u,ɞ ɜ,ä ɑ,c k,q k,ɟ ɡ,ɢ ɡ,ʈ t,ɖ d,ɱ m,ɳ n,ɲ nj,ɴ ŋ,ʙ b,ʀ ɹ," +
      "ʁ ɹ,ɽ ɹ,ɺ ɹ,ɻ ɹ,ɸ f,β v,ʋ v,ʂ ʃ,ʐ ʒ,ɕ ʃ,ʑ ʒ,ç h,ʝ j,χ h,ɣ ɡ,ħ h,ɦ h,ɬ l,ɮ l,ɭ l,ʎ lj,ʟ l,ɰ w,ɥ w," +
      "ʍ w,ɧ ʃ",
  ),
  ["ʕ", ""],
  ["’", ""],
  ["‘", ""],
  ["ʼ", ""],
  [":", ""],
]);
