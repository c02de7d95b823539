/** Words that ask for nothing by themselves: whoever asks how to speak has to say something around it. */
export const FILLERS: ReadonlySet<string> = new Set(
  (
    "a an the this that these those it its is are was were been being am as at by for from in into of on onto to with " +
    "and or if then than when while also both all any each every some such just only quite rather almost always " +
    "i me my mine we us our you your yours he him his she her hers they them their theirs who what which why how there here " +
    "should must would could can may might shall will do does did done has have had let lets get got give go " +
    "though although except turn bring take pick tiny please kindly try want wants need needs like speaker speaking spoken speaks speech talking saying reading narrate " +
    "narration sounding sounds voices tones manner manners way ways style styles delivery delivered deliver affect " +
    "emotion emotions emotional emotionally mood moods feel feeling feelings attitude personality pacing text words " +
    "sentence sentences input line lines following audio overall throughout generally normal normally natural " +
    "naturally neutral plain usual medium moderate moderately someone somebody person possible express convey conveying identity"
  ).split(" "),
);
