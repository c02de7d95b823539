const [QUOTE, ESCAPE] = [0x22, 0x5c];
const [LIST, LIST_END] = [0x5b, 0x5d];
const [OBJECT, OBJECT_END] = [0x7b, 0x7d];

/** Whether JSON has more objects and lists inside of each other than that; what is no JSON may be said to have any number. */
export function isDeeperThan(max: number, json: Uint8Array): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) isString = !isString;
    else if (isString) at += byte === ESCAPE ? 1 : 0;
    else if (byte === OBJECT || byte === LIST) {
      depth++;
      if (depth > max) return true;
    } else if (byte === OBJECT_END || byte === LIST_END) depth--;
  }
  return false;
}
