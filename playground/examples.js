// Conversations to try with one click.

/**
 * `voicedBy`: the speaker whose voice speaks the first turn beforehand, as its recording. `phonemes`: whether they are
 * shown under the words.
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
    name: "Antiphon writes the answer",
    turns: [
      { speaker: "0", text: "I baked bread for the first time today." },
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
    name: "Words with two readings",
    phonemes: true,
    turns: [
      {
        speaker: "1",
        text: "I read what you read. They wind the clock in the wind, and live close to where the live band will close.",
      },
    ],
  },
  {
    name: "A voice from a recording",
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
