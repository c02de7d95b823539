/**
 * Settings of earlier releases, by name: what each is called now, or null where it is gone. They are accepted with a
 * warning until the next release; a name with a `*` stands for any name of the user's.
 */
const FORMER: Readonly<Record<string, { readonly now: string | null; readonly why: string }>> = {
  readings: { now: null, why: "there is one way to read a text" },
  "writer.authoredReplies": { now: null, why: "no prepared reply stands before a language model any more" },
  "writer.tokenLimitField": { now: null, why: "the field that a chat endpoint takes is found out" },
  "checkpoints.*.places": { now: "maxConcurrent", why: "it is called so for every checkpoint" },
};

/** The settings of a tree as they are called now, and a sentence for each that was called otherwise. */
export function withoutFormerNames(tree: unknown, warn: (sentence: string) => void, at = ""): unknown {
  // What is made of it belongs to nobody else.
  if (Array.isArray(tree)) return [...tree];
  if (typeof tree !== "object" || tree === null) return tree;
  const isForAll = at === "checkpoints";
  const current = Object.entries(tree).flatMap(([key, value]) => {
    const pattern = `${at}${at === "" ? "" : "."}${isForAll ? "*" : key}`;
    const former = Object.hasOwn(FORMER, pattern) ? FORMER[pattern] : undefined;
    if (former === undefined) return [[key, withoutFormerNames(value, warn, pattern)]];
    // The new name wins where both are given.
    warn(formerWarning(pattern, former));
    return former.now === null || Object.hasOwn(tree, former.now) ? [] : [[former.now, value]];
  });
  return Object.fromEntries(current);
}

/** Settings that are gone, with the sentence that says so. */
export function goneSettings(): readonly { readonly name: string; readonly warning: string }[] {
  return Object.entries(FORMER)
    .filter(([, { now }]) => now === null)
    .map(([name, former]) => ({ name, warning: formerWarning(name, former) }));
}

function formerWarning(name: string, { now, why }: { now: string | null; why: string }): string {
  const remedy = now === null ? "remove it" : `call it ${now}`;
  return `The setting ${name} is no longer used, since ${why}: ${remedy}, before the next release refuses it.`;
}
