/** Which words of two lists are the same, in their order: the longest common subsequence, as pairs of indices. */
export function sameWords(
  said: readonly string[],
  heard: readonly string[],
): readonly (readonly [said: number, heard: number])[] {
  const width = heard.length + 1;
  const longest = new Uint32Array((said.length + 1) * width);
  for (let row = said.length - 1; row >= 0; row--) {
    for (let column = heard.length - 1; column >= 0; column--) {
      longest[row * width + column] =
        said[row] === heard[column]
          ? longest[(row + 1) * width + column + 1]! + 1
          : Math.max(longest[(row + 1) * width + column]!, longest[row * width + column + 1]!);
    }
  }
  const pairs: [number, number][] = [];
  for (let [row, column] = [0, 0]; row < said.length && column < heard.length; ) {
    if (said[row] === heard[column]) pairs.push([row++, column++]);
    else if (longest[(row + 1) * width + column]! >= longest[row * width + column + 1]!) row++;
    else column++;
  }
  return pairs;
}
