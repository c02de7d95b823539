/**
 * Conversations by turns, the other one first, and after the last turn what is remembered of them; `null` where that is
 * left to others, `NEVER` where they are told that they never said it.
 */
export const NEVER = Symbol("never told");

export type Remembering = readonly [...turns: string[], remembered: string | null | typeof NEVER];

export const WRITTEN_FIRST: readonly Remembering[] = [
  // Of times.
  ["My appointment is on Thursday at ten.", "Good luck.", "When is my appointment again?", "You said your appointment is on Thursday at ten."],
  ["we're off to the coast on the ninth of May", "Lovely.", "which date did i say", "You said you're off to the coast on the ninth of May."],
  ["My train leaves at ten past four.", "Are you there yet?", "Not yet. When does my train leave again?", "You said your train leaves at ten past four."],
  ["The plumber is coming on Monday. My sister is here on Friday.", "Busy week.", "When did I say the plumber's coming?", "You said the plumber is coming on Monday."],
  ["My dentist is on Monday and my interview is on Tuesday.", "I see.", "what day is my interview?", "You said your interview is on Tuesday."],
  ["My exam is in June.", "Good luck.", "It got moved. My exam is in July now.", "I see.", "When's my exam?", "You said your exam is in July now."],
  ["My exam is in June.", "Good luck.", "Oh no, it's in July.", "I see.", "When did I say my exam is?", "First you said June, and then July."],
  ["My appointment is on Thursday.", "Good.", "Actually it was cancelled.", "Oh.", "When is my appointment?", null],
  ["My dentist's appointment is on Thursday, my doctor's appointment is on Friday.", "I see.", "When is my appointment?", null],
  ["My friend said my appointment is on Thursday.", "I see.", "When is my appointment?", null],
  ["Is my appointment on Thursday?", "I don't know.", "When is my appointment?", null],
  ["My appointment isn't on Thursday.", "I see.", "When is my appointment?", null],
  // Of places.
  ["We're going to Portugal in May.", "How nice.", "Where did I say we're going?", "You said you're going to Portugal in May."],
  ["I live in Hamburg.", "Nice city.", "Yes. Do you still know where I live?", "You said you live in Hamburg."],
  ["I parked on the third level, next to the blue pillar.", "Noted.", "where did I park?", "You said you parked on the third level, next to the blue pillar."],
  ["I put the spare key in the shed.", "All right.", "Where did I put the spare key?", "You said you put the spare key in the shed."],
  ["My brother lives in Leeds. I live near Bath.", "I see.", "Where did I say I live?", "You said you live near Bath."],
  ["My wife comes from Ghent.", "A fine town.", "Where did I say my wife comes from?", "You said your wife comes from Ghent."],
  ["I go to bed in May.", "Ha.", "Where did I say I'm going?", null],
  // Of numbers.
  ["I'm forty-one and I just started ballet.", "Lovely.", "Sore! Do you know how old I am?", "You said you're forty-one."],
  ["My son is seven and my daughter is nine.", "Nice ages.", "how old did i say my daughter is?", "You said your daughter is nine."],
  ["My grandson is seven and loves trains.", "Trains are great.", "We want to get him one. How old did I say he is?", "You said your grandson is seven and loves trains."],
  ["I've got three cats and a dog.", "A full house.", "How many cats did I say I have?", "You said you've got three cats and a dog."],
  ["The new boiler costs two thousand pounds.", "That's a lot.", "how much did I say the boiler costs?", "You said the new boiler costs two thousand pounds."],
  ["My son has seven cars.", "Wow.", "How old is my son?", null],
  ["I'm forty-one.", "I see.", "How old are you?", null],
  // Of colours, people, things.
  ["I picked the dark green for the hall.", "Lovely.", "What was the colour I picked?", "You said you picked the dark green for the hall."],
  ["My favourite colour is purple.", "Royal.", "What's my favourite colour?", "You said your favourite colour is purple."],
  ["My cousin Femi is coming to visit.", "How nice.", "Who did I say is coming to visit?", "You said your cousin Femi is coming to visit."],
  ["I work as a nurse on nights.", "Hard work.", "do you remember what I do for a living?", "You said you work as a nurse on nights."],
  ["I'm allergic to shellfish.", "Noted.", "what did i say i'm allergic to, checking u listen", "You said you're allergic to shellfish."],
  ["I had porridge for breakfast.", "Warming.", "So, what did I have for breakfast?", "You said you had porridge for breakfast."],
  ["We have a dog called Rolo and a budgie called Pip.", "Nice.", "Which of my pets is the budgie?", "You said you have a dog called Rolo and a budgie called Pip."],
  ["The boiler is making a funny noise.", "Oh dear.", "It's cold here.", "I'm sorry.", "What did I say about the boiler?", "You said the boiler is making a funny noise."],
  // Never told.
  ["Hello there.", "Hello.", "What did I say my brother's name was?", NEVER],
  ["Hello there.", "Hello.", "How old did I say I am?", NEVER],
  ["My brother Theo called.", "I see.", "Where did I say my sister lives?", NEVER],
  ["Hello.", "Hello.", "What did I say?", null],
  ["Hello.", "Hello.", "When is the best time to plant my tulips?", null],
  ["Hello.", "Hello.", "How much should I pay my cleaner?", null],
  // Lists.
  ["I need milk, batteries and dog food.", "Anything else?", "Add candles.", "Done.", "I've got batteries already.", "Good.", "What's on my list now?", "Milk, dog food and candles."],
  ["I need eggs, butter and flour from the shop.", "A cake?", "What do I need again?", "Eggs, butter and flour."],
  ["I'd like a scone, a flat white and two muffins.", "Of course.", "Scrap the scone.", "Done.", "What's my order now?", "A flat white and two muffins."],
  // Ours.
  ["Tell me about a castle.", "There is one near Bath. It's called Farleigh Hungerford.", "What did you say it was called?", "I said: It's called Farleigh Hungerford."],
  ["Where's the bus?", "It stops by the church.", "What was that again?", "I said: It stops by the church."],
  // Putting right.
  ["My exam is on Thursday.", "Good luck on Tuesday.", "No, I said Thursday, not Tuesday.", "Sorry, Thursday. Thank you for putting me right."],
  ["My sister Ines is here.", "Say hello to Agnes.", "It's Ines, not Agnes.", "Sorry, Ines. Thank you for putting me right."],
  ["I've a bird and a dog, and it's hungry.", "Dogs are always hungry.", "No, the bird.", "Sorry, the bird. Thank you for putting me right."],
  ["What's the capital of Australia?", "It's Canberra.", "It's Sydney, not Canberra.", null],
];
export const WRITTEN_AFTER: readonly Remembering[] = [];
