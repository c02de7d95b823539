// What there is to try at one click.

/**
 * `voicedBy`: the speaker in whose voice the first turn is spoken beforehand, to be an earlier turn's sound; `phonemes`:
 * whether the sounds are shown under the words.
 */
export const EXAMPLES = [
  {
    name: "Good morning",
    turns: [
      { speaker: "0", text: "Did you sleep well?" },
      { speaker: "1", text: "Like a log, thank you. And you?" },
    ],
  },
  {
    name: "It writes the answer",
    turns: [
      { speaker: "0", text: "We finally adopted a puppy." },
      { speaker: "1", text: "" },
    ],
  },
  {
    name: "Dates and money",
    turns: [
      {
        speaker: "0",
        text: "Invoice No. 1047 of Nov. 5, 2026 comes to $1,234.56, less 20% before 3:30 p.m. on the 21st.",
      },
    ],
  },
  {
    name: "Read what you read",
    phonemes: true,
    turns: [
      {
        speaker: "1",
        text: "I read what you read. They wind the clock in the wind, and live close to where the live band will close.",
      },
    ],
  },
  {
    name: "In a voice it heard",
    voicedBy: "0",
    turns: [
      { speaker: "1", text: "Hello, it is Anna. I have just got off the train." },
      { speaker: "0", text: "Anna! Shall I come and fetch you?" },
      { speaker: "1", text: "No need, I would rather walk. The evening is lovely." },
    ],
  },
  {
    name: "A tale with captions",
    turns: [
      {
        speaker: "0",
        text: "The lighthouse keeper kept two clocks. One told the hour on the island, the other the hour at home, and he wound both of them each night. When the storm stopped the first, he was not troubled. He looked at the second, counted, and lit the lamp a minute early, in case somebody was late.",
      },
    ],
  },
];
