import Type, { type Static } from "typebox";
import { MAX_SPEECH_CHARS } from "./limits.ts";
import { NamedVoice } from "./voices.ts";

const text = Type.String({
  minLength: 1,
  maxLength: MAX_SPEECH_CHARS,
  description: "The text to speak. Without any letter or digit, the result is 0.2 s of silence.",
});

/** What Vapi sends to a custom voice (`provider` `custom-voice`). Its other fields are ignored. */
export const VoiceRequest = Type.Object(
  {
    message: Type.Object({
      type: Type.Unsafe<"voice-request">({ type: "string", enum: ["voice-request"] }),
      text,
      sampleRate: Type.Integer({ description: "Hz." }),
      voiceId: Type.Optional(
        Type.Unsafe<string | null>({
          type: ["string", "null"],
          description: "Same as `voice` in `POST /v1/audio/speech`.",
        }),
      ),
    }),
  },
  { title: "VoiceRequest" },
);
export type VoiceRequest = Static<typeof VoiceRequest>;

/** What jambonz sends to a custom speech vendor. */
export const VendorRequest = Type.Object(
  {
    text,
    type: Type.Optional(
      Type.Unsafe<"text" | "ssml">({
        type: "string",
        enum: ["text", "ssml"],
        description:
          "`ssml`: the text is SSML, with `<speak>` around it or without. Otherwise, it is if it begins with `<speak>`.",
      }),
    ),
    voice: Type.Optional(NamedVoice),
    language: Type.Optional(Type.String({ description: "Ignored: English is spoken." })),
  },
  { title: "VendorRequest" },
);
export type VendorRequest = Static<typeof VendorRequest>;
