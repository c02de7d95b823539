import type { Script } from "../core/script.ts";

/**
 * The thread that is to speak: the one that speaks for the fewest. Where a recording is to be heard, or the history, the one
 * that hears what begins with the same clip, unless it speaks for too many more: what a thread has heard it need not hear again.
 *
 * @param threads at least one
 * @param extraLoad how many more than another it may speak for to be the one that has heard the clip
 */
export function chooseThread<Thread extends { readonly load: number }>(
  threads: readonly Thread[],
  { history, voice = [] }: Pick<Script, "history" | "voice">,
  extraLoad = 1,
): Thread {
  const idlest = threads.reduce((a, b) => (b.load < a.load ? b : a));
  const chosen = voice.find((part) => "sample" in part)?.sample.clip;
  const first = chosen ?? history.find(({ audio }) => audio !== null)?.audio;
  if (first === undefined || first === null) return idlest;
  const usual = threads[hashOf(first.digest) % threads.length]!;
  return usual.load <= idlest.load + extraLoad ? usual : idlest;
}

/** 32 bits (FNV-1a; Fowler, Noll and Vo, 1991). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
