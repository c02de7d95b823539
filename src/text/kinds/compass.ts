const DIRECTIONS: ReadonlyMap<string, string> = new Map([
  ["N", "north"],
  ["S", "south"],
  ["E", "east"],
  ["W", "west"],
  ["NE", "northeast"],
  ["NW", "northwest"],
  ["SE", "southeast"],
  ["SW", "southwest"],
  ["NNE", "north-northeast"],
  ["ENE", "east-northeast"],
  ["ESE", "east-southeast"],
  ["SSE", "south-southeast"],
  ["SSW", "south-southwest"],
  ["WSW", "west-southwest"],
  ["WNW", "west-northwest"],
  ["NNW", "north-northwest"],
]);

/** "SW" → "southwest"; "" for what is no point of the compass. */
export function compassPoint(letters: string): string {
  return DIRECTIONS.get(letters) ?? "";
}
