import { join } from "node:path";
import { before } from "node:test";
import { convertWhisper } from "../../../src/recognition/whisper/convert.ts";
import { openWhisper } from "../../../src/recognition/whisper/open-whisper.ts";
import { recogniserConformance } from "../conformance.ts";
import { temporaryFolder } from "../folders.ts";
import { writeTinyHub } from "./tiny-whisper.ts";

const folder = temporaryFolder();
const made = join(folder, "made");
before(async () => {
  await writeTinyHub(join(folder, "hub"));
  await convertWhisper(join(folder, "hub"), made);
});

recogniserConformance("a Whisper that knows no words", () => openWhisper(made));
