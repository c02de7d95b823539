import { nearestName } from "../../core/nearest-name.ts";
import { describeFault } from "../phonemes/given-phonemes.ts";
import { nearestPhonemes } from "./ipa.ts";
import { INTERPRETATIONS, isKnownKind, saidAs } from "./say-as.ts";
import type { TagReader } from "./tag-reader.ts";
import type { Tag } from "./xml.ts";

/** The text of an element that holds nothing else, once all of it has come. */
export interface HeldText {
  /** What is spoken for it, in the notation of a text; `null` leaves it as it is. */
  readonly say: (content: string) => string | null;
  /** What is spoken for one that holds nothing, `<sub alias="…"/>`; nothing unless given. */
  readonly sayEmpty?: string;
  /** Whether what is said is billed, and not the text. */
  readonly isBilledAsSaid: boolean;
  content: string;
  /** Where it is in all of the text. */
  from: number | null;
  to: number;
}

/** What an element holds as text alone; `null` for one that may hold others. @throws MarkupError */
export function heldText(tag: Tag, tags: TagReader): HeldText | null {
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

function held(say: HeldText["say"], isBilledAsSaid = false): HeldText {
  return { say, isBilledAsSaid, content: "", from: null, to: 0 };
}

function sayAs(tag: Tag, tags: TagReader): HeldText["say"] {
  const kind = tags
    .required(tag, "interpret-as")
    .trim()
    .toLowerCase()
    .replace(/^vxml:/, "");
  const known = isKnownKind(kind);
  if (known === null) {
    const near = nearestName(kind.slice(0, 40), INTERPRETATIONS);
    const usual = USUAL.join(", ");
    const remedy = near === null ? `write one of ${usual}` : `did you mean ${near}? Write one of ${usual}`;
    throw tags.refused(tag, `interpret-as of <say-as> is unknown: ${remedy}`);
  }
  if (known === "left") tags.caution(tag, `${kind} is read as text`);
  const format = (tag.attributes.format ?? "").trim().toLowerCase();
  return (content) => {
    const said = saidAs(kind, format, content);
    if (said === null) tags.caution(tag, `${kind} does not fit what is in it, which is read as text`);
    return said;
  };
}

const USUAL = ["characters", "digits", "cardinal", "ordinal", "date", "time", "telephone"];

function phoneme(tag: Tag, tags: TagReader): HeldText["say"] {
  const written = tags.required(tag, "ph").trim();
  if ((tag.attributes.alphabet ?? "ipa").trim().toLowerCase() !== "ipa") {
    tags.caution(tag, "is ignored: the only alphabet for phonemes is ipa");
    return () => null;
  }
  const read = nearestPhonemes(written);
  if ("why" in read) throw tags.refused(tag, describeFault(read, 0, " of ph"));
  return (content) => `[${content.replaceAll(/[[\]]/g, "")}](/${read.phonemes}/)`;
}
