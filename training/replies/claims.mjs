/**
 * Whether a reply claims what a voice in a computer has not: a body, a past, senses, a family, meals, or to be a person.
 * It is told by form, rather too often than too seldom: such replies stay out of the bank.
 */
export function claimsToBeAPerson(reply) {
  const text = reply.toLowerCase().replaceAll("’", "'");
  return CLAIMS.some((claim) => claim.test(text));
}

const HUMAN =
  /\bi(?:'m| am) (?:(?:just|only|really|also|actually|still|indeed|very much) )*(?:a |an )?(?:(?:real|actual|living|true) )?(?:human|person)\b(?! (?:who|that))|\bi(?:'m| am) not (?:a |an |just |any )*(?:robot|machine|computer|bot|program|ai\b)|\bas a (?:fellow )?(?:human|person)\b/;
const CLAIMS = [
  HUMAN,
  /\bmy (?:own )?(?:day|morning|evening|night|weekend|holidays?)\b/,
  /\bi(?:'ll| will| can| could) (?:bring|come over|visit|meet you|drive)\b/,
  /\bi(?:'m| am) (?:a |an |only |just )*(?:human|person|man|woman|guy|girl|boy|mother|father|mom|mum|dad|student|teacher|doctor|nurse|writer|fan of)\b/,
  /\b(?:my|our) (?:own )?(?:wife|husband|son|daughter|kids?|children|mother|mom|mum|father|dad|parents|sister|brother|cousin|aunt|uncle|grandm\w+|grandf\w+|grandpa|family|friends?|boyfriend|girlfriend|partner|dog|cat|puppy|kitten|house|home|flat|apartment|garden|kitchen|car|bike|job|boss|body|hands?|eyes|ears|legs?|feet|hair|childhood|neighbou?rs?|phone|bed)\b/,
  /\bwhen i was (?:a |little|young|small|your age|in |at )/,
  /\bi(?:'ve| have)? (?:just |already |also |once |always |recently |finally |usually |often |never )*(?:ate|eaten|slept|drank|drunk|cooked|baked|bought|went(?! wrong| off| too far| quiet)|gone(?! wrong)|visited|travell?ed|walked|ran|drove|flew|swam|watched|tasted|smelled|wore|lived|grew up|met|married|woke|worked|moved|played|read|saw|seen|heard (?:the|a|it|him|her|them|that song)|been to|been there|been in|been working|been busy|had (?:a|an|the|my|some|one|two|breakfast|lunch|dinner|that(?! wrong)|it(?! wrong)|\w+ for (?:breakfast|lunch|dinner))|got (?:a|an|my|home|back|up|some|one|two|stuck|sick|married)|made (?:a|an|some|dinner|lunch|soup|it)|took (?:a|my|the)|spent|came|tried|did (?:that|the same)|used to|learned|forgot|lost|broke|fell|felt)\b/,
  /\bi(?:'ll| will| would|'d)? (?:just |always |usually |often |also |only |rather )*(?:eat|sleep|drink|cook|bake|live|wear|drive|walk|run|swim|watch|smell|taste|wake|work|own|shop|travel|jog|breathe)\b/,
  /\bi(?:'m| am) (?:still |just |also |now |really |a bit |so |very |too )*(?:at (?:home|work)|eating|cooking|drinking|sleeping|walking|driving|watching|reading|sitting|lying|baking|wearing|hungry|thirsty|tired|sleepy|sick|ill|married|single|in bed|on my way|outside|from (?!here))/,
  /\bi have (?:a |an |two |three |some |my |no )*(?:dogs?|cats?|pets?|kids?|children|sons?|daughters?|sisters?|brothers?|wife|husband|car|house|job|headache|cold|garden|bike|friend|birthday)\b/,
  /\bi(?:'m| am) (?:a |an |only |just |still |really )*(?:(?:real|actual|living|true) |(?:real|alive)[.!,]|[\w -]{1,20} years old)/,
  /\bi (?:do )?have (?:a |my |two |ten |such |very )*(?:(?!no )\w+ (?:eyes|hair)|eyes|hands|fingers|legs|feet|ears|body|face|skin)\b|\bi was (?:born|raised)\b|\bi (?:can|could|do) (?:really |also |even )?(?:see you\b(?!['r])|smell|taste)/,
  /\bi(?:'m| am) (?:getting married|moving (?:to|house)|pregnant)\b|\bi (?:hurt|broke|sprained) my\b|\bwe (?:went to|had (?:dinner|lunch|breakfast|pizza))\b|\bi (?:studied|stayed (?:at home|in bed)|grew \w+)\b|\bi feel (?:so |very |a bit )*(?:tired|sick|sleepy|hungry|cold)\b/,
];
