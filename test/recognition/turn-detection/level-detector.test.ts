import { levelDetector, pauseJudge } from "../../../src/recognition/turn-detection/level-detector.ts";
import { turnJudgeConformance, voiceActivityConformance } from "./conformance.ts";

voiceActivityConformance("the level", async () => levelDetector());
turnJudgeConformance("the pause", async () => pauseJudge());
