/**
 * The objects in a text that may be JSON, from the first on, as they stand in it; what stands between them is nobody's.
 * One that does not end is none; but where an object is put into braces once more, the outer may be missing at its end.
 */
export function objectsIn(text: string): string[] {
  const objects: string[] = [];
  for (let from = text.indexOf("{"); from >= 0; ) {
    let to = endOf(text, from);
    if (to === null) {
      const inner = afterGap(text, from + 1);
      if (text[inner] !== "{") break;
      from = inner;
      to = endOf(text, from);
      if (to === null) break;
    }
    objects.push(text.slice(from, to));
    from = text.indexOf("{", to);
  }
  return objects;
}

/** Values of an object's members as they stand in its JSON, by name. Of those of one name it is the last, as elsewhere. */
export function membersOf(json: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let at = afterGap(json, 1);
  while (json[at] === '"') {
    const nameEnd = endOf(json, at) ?? json.length;
    const from = afterGap(json, nameEnd);
    const to = endOf(json, from) ?? json.length;
    members.set(JSON.parse(json.slice(at, nameEnd)) as string, json.slice(from, to));
    at = afterGap(json, to);
  }
  return members;
}

/** Where the value ends that begins there; `null` where it does not. */
function endOf(text: string, from: number): number | null {
  let depth = 0;
  TOKEN.lastIndex = from;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [token] = match;
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    if (depth <= 0) return TOKEN.lastIndex;
  }
  return null;
}

/** A bracket, a whole string, or anything else up to the next of these or the end of a value. */
const TOKEN = /[{}[\]]|"(?:[^"\\]|\\[\s\S])*"|[^{}[\]",:\s]+|[,:\s]+/y;
const GAP = /[\s,:]*/y;

function afterGap(text: string, at: number): number {
  GAP.lastIndex = at;
  GAP.exec(text);
  return GAP.lastIndex;
}
