import { speechModelConformance } from "../../model/speech-model-conformance.ts";
import { openVoice } from "./listening.ts";

speechModelConformance("The embedded voice", openVoice);
