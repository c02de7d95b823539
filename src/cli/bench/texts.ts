/** Sentences of exactly ten words, said by one person to another. */
export const TEN_WORDS: readonly string[] = [
  "I think we should leave before the rain gets worse.",
  "She told me that the meeting was moved to Friday.",
  "Could you send me the report when you get home?",
  "The train was late again, so I missed the start.",
  "We finally found a flat that has enough light inside.",
  "My brother plays the drums in a band near here.",
  "Let me know if anything changes before we get there.",
  "They opened a new bakery right next to the station.",
  "You can always ask me when something is not clear.",
  "It took almost three hours to drive through the city.",
  "The soup needs a little more salt and some pepper.",
  "He said he would call us back in the morning.",
  "Nobody expected that the old bridge would hold so long.",
  "Please put the kettle on while I feed the cat.",
  "What a lovely garden, did you plant all this yourself?",
  "I have never seen so many stars in one night.",
  "The doctor asked how often I go for a walk.",
  "If you turn left here, the museum is straight ahead.",
  "Our neighbours are travelling through Portugal for the whole summer.",
  "That book was better than the film, do you agree?",
];

/** Turns of a conversation, of five to ten seconds each. */
export const TURNS: readonly string[] = pairs(TEN_WORDS);

/** A sentence, and the one that comes seven later, so that neighbours never meet. */
function pairs(sentences: readonly string[]): string[] {
  return sentences.map((first, index) => `${first} ${sentences[(index + 7) % sentences.length]}`);
}

/** The body of `POST /v1/converse/stream` that has the open turn say `text`, with the defaults of everything. */
export function converseBody(text: string): string {
  return JSON.stringify({ conversation: [{ speaker: "0", text }] });
}
