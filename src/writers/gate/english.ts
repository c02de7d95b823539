import { otherLanguageOf } from "../../text/other-language.ts";
import { plainText } from "./gate-windows.ts";

/** Whether a line may be English, which is all that the gate was taught. Letters that only look foreign are read as they look. */
export function mayBeEnglish(line: string): boolean {
  return otherLanguageOf(plainText(line)) === null;
}
