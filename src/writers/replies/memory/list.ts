import { contentWords } from "../../heard/content-words.ts";
import { MAX_TURN_CHARS, sentencesIn } from "../../heard/sentences.ts";
import { NUMBER_FORM } from "../../heard/spoken-number.ts";

/** What is on a list that somebody began, added to and struck from; `null` where any step is in doubt, or none was told. */
export function listOf(turns: readonly string[]): string[] | null {
  let items: string[] | null = null;
  for (const text of turns) {
    if (text.length > MAX_TURN_CHARS) continue;
    for (const sentence of sentencesIn(text).flatMap((one) =>
      one.split(
        /(?:, and|;| but|, then| and) (?=(?:scrap|remove|drop|add|cross off|strike|take|put|i already|i've already)\b)/i,
      ),
    )) {
      const whole = sentence.replace(/[.!\s]+$/, "");
      const said = whole.replace(LEAD_IN, "").replace(LEAD_OUT, "");
      const next: string[] | null | undefined =
        items !== null && isBare(said) ? bare(items, whole, said) : step(items, said);
      if (next === undefined) return null;
      items = next;
    }
  }
  return items;
}

/** What the list is after a sentence; `undefined` where it may have changed in a way that is not understood. */
function step(items: string[] | null, said: string): string[] | null | undefined {
  const begun = firstOf(BEGINS, said);
  if (begun !== null && !said.endsWith("?")) {
    const named = itemsOf(begun);
    if (items === null) return named !== null && (named.length > 1 || /\blist\b/i.test(said)) ? named : items;
    if (named === null) return speaksOfAny(items, said) ? undefined : items;
    // Whoever needs something more says so; else it may be another list.
    return ADDS_TOO.test(said) ? added(items, named) : undefined;
  }
  if (items === null) return null;
  const more = firstOf(ADDS, said);
  if (more !== null) {
    const named = itemsOf(more);
    return named === null ? undefined : added(items, named);
  }
  const less = firstOf(STRIKES, said);
  if (less !== null) {
    const named = itemsOf(less);
    return named === null ? undefined : struck(items, named);
  }
  const had = firstOf(HAS, said);
  if (had !== null) {
    const named = itemsOf(had);
    if (named?.every((name) => placeOf(items, name) >= 0) === true) return struck(items, named);
    return speaksOfAny(items, said) ? undefined : items;
  }
  const recount = RECOUNTS.exec(said)?.[1];
  if (recount !== undefined) {
    const place = placeOf(items, recount);
    return place < 0 ? undefined : items.with(place, recount);
  }
  const swap = SWAPS.map((form) => form.exec(said)).find((match) => match !== null) ?? null;
  if (swap !== null) {
    const [out, into] = [itemsOf(swap[1] ?? ""), itemsOf(swap[2] ?? "")];
    const place = out?.length === 1 ? placeOf(items, out[0] ?? "") : -1;
    const [instead] = into ?? [];
    return place < 0 || into?.length !== 1 || instead === undefined ? undefined : items.with(place, instead);
  }
  return UNSURE.test(said) || (speaksOfAny(items, said) && DOUBTS.test(said)) ? undefined : items;
}

/** Whether words only name things, as who goes on with a list does. */
function isBare(said: string): boolean {
  return said.split(" ").length <= 8 && itemsOf(said) !== null && !CHAT.test(said) && !STEP.test(said);
}

/** "Oh, and tea": what is added so. "Yes, bread" and "no eggs" depend on what they answer. */
function bare(items: readonly string[], whole: string, said: string): string[] | undefined {
  const more = /^(?:(?:oh|ok|okay|well)[,.]? )*(?:and|also|plus)\b/i.test(whole) ? itemsOf(said) : null;
  return more === null ? undefined : added(items, more);
}

/** A list as it is said: "Milk, tea and bread." */
export function spokenList(items: readonly string[]): string {
  const [last = ""] = items.slice(-1);
  const text = items.length > 1 ? `${items.slice(0, -1).join(", ")} and ${last}` : last;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** The things that words name one after the other; `null` where they say more than that. */
export function itemsOf(words: string): string[] | null {
  const items = words
    .split(/\s*,\s*(?:and |or )?|\s+and\s+(?:also )?|\s+plus\s+/i)
    .map((item) =>
      item
        .replace(/^(?:also|some more|some|maybe|my|your) /i, "")
        .replace(LEAD_OUT, "")
        .trim(),
    )
    .filter((item) => item !== "");
  return items.length > 0 && items.every((item) => ITEM.test(item) && !NO_ITEM.test(item)) ? items : null;
}

function added(items: readonly string[], named: readonly string[]): string[] {
  return [...items, ...named.filter((name) => placeOf(items, name) < 0)];
}

function struck(items: readonly string[], named: readonly string[]): string[] | undefined {
  const places = named.map((name) => placeOf(items, name));
  return places.some((place) => place < 0) ? undefined : items.filter((_, n) => !places.includes(n));
}

/** Where a list has something; -1 where it has not, or has two things that it may be. */
function placeOf(items: readonly string[], name: string): number {
  const stems = thingOf(name);
  const same = items.flatMap((item, n) => (isSame(thingOf(item), stems) ? [n] : []));
  if (same.length === 1) return same[0] ?? -1;
  const within = items.flatMap((item, n) => ([...stems].every((stem) => thingOf(item).has(stem)) ? [n] : []));
  return stems.size > 0 && within.length === 1 ? (within[0] ?? -1) : -1;
}

function thingOf(name: string): Set<string> {
  return new Set([...contentWords(name.replace(/^(?:an?|the|some|two|three|four|five|six|\d+) /i, ""))]);
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size > 0 && one.size === other.size && [...one].every((stem) => other.has(stem));
}

function speaksOfAny(items: readonly string[], said: string): boolean {
  const words = contentWords(said);
  return items.some((item) => [...thingOf(item)].some((stem) => words.has(stem)));
}

function firstOf(forms: readonly RegExp[], said: string): string | null {
  for (const form of forms) {
    const words = form.exec(said)?.[1];
    if (words !== undefined) return words;
  }
  return null;
}

const LEAD_IN =
  /^(?:help me (?:keep track|remember)(?: of (?:this|these))?: ?|(?:oh|and|also|so|ok|okay|well|right|yes|yeah|please|hi|hello|wait|actually|then|no|now|can you|could you|would you)[,:]? )+/i;
const LEAD_OUT =
  /(?:,? (?:please|too|as well|already|now|actually|from the (?:shop|store|shops|supermarket)|at the (?:shop|store)|for (?:dinner|tonight|the weekend)|today|tomorrow|thanks))+$/i;
const BEGINS: readonly RegExp[] = [
  /^((?:an?|one|two|three|four|five|six|\d+) [\p{L}' -]+(?:,| and) (?:an?|one|two|three|four|five|six|\d+) [\p{L}' -]+)$/iu,
  /^(?:i|we)(?:'ll| will)? (?:also )?(?:need|have to|must|want|should)(?: to)?(?: (?:buy|get|pick up))? (?!to\b)(.+)$/i,
  /^(?:i'd|i would|we'd) (?:also )?like (?!to\b)(.+)$/i,
  /^i'll (?:also )?(?:have|take) (.+)$/i,
  /^(?:(?:on )?my|the) (?:shopping |packing |to-do )?list(?: is|:| has| are)?,? (.+)$/i,
  /^shopping list[:,]? (.+)$/i,
];
const ADDS: readonly RegExp[] = [
  /^(?:add|include) (?!up\b)(.+?)(?: to (?:the|my|it|that)(?: \w+)?)?$/i,
  /^put (.+?) on (?:the|my|it)(?: \w+)?$/i,
];
const ADDS_TOO = /\balso\b|\b(?:too|as well)$/i;
const STRIKES: readonly RegExp[] = [
  /^(?:scrap|remove|drop|delete|cross (?:off|out)|strike|take off|leave (?:off|out)|hold|skip|forget(?: about)?) (?:the |my |that )?(.+?)(?: (?:off|from) (?:the|my|it)(?: \w+)?)?$/i,
  /^(?:take|cross|leave) (?:the |my )?(.+?) (?:off|out)(?: (?:the|my|of it)(?: \w+)?)?$/i,
];
const HAS: readonly RegExp[] = [
  /^(?:(?:i|we)(?:'ve| have)? )?(?:already )?(?:got|have|bought|found) (?:the |my )?(.+?)(?:,? already\b.*|, (?:found|in|from|they|it)\b.*)?$/i,
];
/** Names things and is no part of a list. */
const CHAT =
  /^(?:oh|well|so|and|also|um+|er+|hm+|please|wait|actually|thanks?|cheers|great|perfect|lovely|good|nice|cool|fine|sure|ok|okay|yes|yeah|no|nope|nothing|all|done|right|brilliant|hello|hi|bye|goodbye|haha|lol|exactly|true|very|wonderful|super|indeed|never mind|one moment)\b/i;
const STEP =
  /^(?:add|include|put|scrap|remove|drop|delete|cross|strike|take|leave|forget|hold|skip|swap|change|replace|got|bought|found|have|need|get|buy|start|clear|double|make|undo)\b/i;
const SWAPS: readonly RegExp[] = [
  /^(?:swap|change|replace) (?:the |my )?(.+?) (?:for|to|with|by) (?:the |some )?(.+)$/i,
  /^(?:scrap|drop|leave out|forget) (?:the |my )?([^,]+?), (.+?) instead$/i,
];
/** "Make that three coffees." */
const RECOUNTS = new RegExp(`^make (?:it|that) ((?:${NUMBER_FORM}|an?) .+)$`, "i");
/** Changes a list, in a way that needs to be understood. */
const UNSURE =
  /\b(?:instead|make (?:that|it)|change (?:that|it)|double|twice as|start (?:over|again)|new list|clear (?:it|the list)|on second thoughts?|undo|put (?:it|that|them) back)\b/i;
const DOUBTS =
  /\b(?:not|no|don't|dont|never|without|rather|more|less|another|only|got|have|bought|need|want|already|scratch|skip)\b|n't\b/i;
/** A thing in a few words. */
const ITEM = /^(?:[\p{L}\p{N}'-]+ ){0,4}[\p{L}\p{N}'-]+$/u;
const NO_ITEM =
  /\b(?:i|you|he|she|it|we|they|that|which|because|is|are|was|were|be|have|has|do|does|so|if|but|when|where|how|what|why|help|advice|break|hug|rest|not|this|these|those|up|me|them)\b|\b\w+'(?:m|re|ve|ll|d)\b/i;
