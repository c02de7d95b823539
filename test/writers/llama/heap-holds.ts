import { getHeapSnapshot } from "node:v8";

/** Tells for each word whether a string in memory holds it. Words are bytes, so that the question adds no string. */
export async function heapHolds(words: readonly Uint8Array[]): Promise<boolean[]> {
  const found = words.map(() => false);
  const longest = Math.max(...words.map((word) => word.length));
  let rest = Buffer.alloc(0);
  for await (const chunk of getHeapSnapshot()) {
    const bytes = Buffer.concat([rest, typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Buffer)]);
    for (const [i, word] of words.entries()) found[i] ||= bytes.includes(Buffer.from(word));
    rest = Buffer.from(bytes.subarray(-longest));
  }
  return found;
}
