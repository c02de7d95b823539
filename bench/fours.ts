/** Four at a time; what is left over is left out. */
export function fours<T>(values: readonly T[]): T[][] {
  const groups: T[][] = [];
  for (let at = 0; at + 4 <= values.length; at += 4) groups.push(values.slice(at, at + 4));
  return groups;
}
