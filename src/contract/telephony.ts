import Type, { type Static } from "typebox";
import { MAX_SPEECH_CHARS } from "./limits.ts";

const text = Type.String({
  minLength: 1,
  maxLength: MAX_SPEECH_CHARS,
  description: "The words to speak. Where there is no letter or digit among them: 0.2 s of silence.",
});

/** What Vapi sends to a voice of one's own (`provider` `custom-voice`). What else it tells of the call is ignored. */
export const VoiceRequest = Type.Object(
  {
    message: Type.Object({
      type: Type.Unsafe<"voice-request">({ type: "string", enum: ["voice-request"] }),
      text,
      sampleRate: Type.Integer({ description: "Hz." }),
      voiceId: Type.Optional(
        Type.Unsafe<string | null>({
          type: ["string", "null"],
          description: "As `voice` of `POST /v1/audio/speech`.",
        }),
      ),
    }),
  },
  { title: "VoiceRequest" },
);
export type VoiceRequest = Static<typeof VoiceRequest>;

/** What jambonz sends to a speech vendor of one's own. */
export const VendorRequest = Type.Object(
  {
    text,
    type: Type.Optional(
      Type.Unsafe<"text" | "ssml">({
        type: "string",
        enum: ["text", "ssml"],
        default: "text",
        description: "`ssml`: its marks are left out, and the words spoken.",
      }),
    ),
    voice: Type.Optional(Type.String({ description: "As that of `POST /v1/audio/speech`." })),
    language: Type.Optional(Type.String({ description: "Ignored: English is spoken." })),
  },
  { title: "VendorRequest" },
);
export type VendorRequest = Static<typeof VendorRequest>;
