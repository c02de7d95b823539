import { getHeapSnapshot } from "node:v8";

/** Which of these words, given as bytes so that the question itself is no string, some string in memory begins with or holds. */
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
