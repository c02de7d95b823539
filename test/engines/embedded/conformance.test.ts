import { speechModelConformance } from "../../core/speech-model-conformance.ts";
import { openVoice } from "./open-voice.ts";

speechModelConformance("The embedded voice", openVoice);
