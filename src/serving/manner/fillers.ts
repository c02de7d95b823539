import { setOf } from "./traits.ts";

/** What is spoken, and how: what is said of these is said of the voice. */
export const NOUNS = setOf(
  "voice voices tone tones pace tempo speed pitch volume register cadence manner manners way ways style styles delivery affect " +
    "mood moods feel feeling feelings attitude personality demeanor demeanour pacing phrasing text words sentence sentences " +
    "input line lines audio speech talk narration narrator reading identity sound sounds pauses inflection " +
    "intonation energy expression",
);

/** Words that ask for nothing by themselves: whoever asks how to speak has to say something around it. */
export const FILLERS: ReadonlySet<string> = new Set([
  ...NOUNS,
  ...(
    "a an the this that these those it its is are was were been being am as at by for from in into of on onto to with " +
    "and or if then than when while also both all any each every some such just only quite rather almost always even " +
    "i me my mine we us our you your yours he him his she her hers they them their theirs who what which why how there here " +
    "should must would could can may might shall will do does did done has have had let lets get got give go because " +
    "since though although except turn bring take pick keep please kindly try want wants need needs like speaking spoken speaks " +
    "talking saying reading narrate sounding delivered following overall throughout generally normal normally natural " +
    "naturally neutral plain usual medium moderate moderately someone somebody something one person possible express convey conveying so " +
    "too very over through whole entire entirely completely again now before between after during within about around per"
  ).split(" "),
]);

/** What stands before a colon and is no wish itself. */
export const LABELS = setOf(
  "greeting greetings pronunciation punctuation features dialect intro introduction opening closing ending emotion emotions " +
    "accent role persona character context instructions instruction guidelines rules important note notes do",
);
