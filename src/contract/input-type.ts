import Type from "typebox";

/** The field `input_type` of requests that generate speech: an extension. */
export type InputType = "text" | "ssml";
export const AsksInputType = Type.Unsafe<InputType>({
  type: "string",
  enum: ["text", "ssml"],
  description:
    "Extension: how the text to speak is written. Absent: `ssml` if it begins with `<speak>`, otherwise `text`, in which " +
    "`[pause:0.8s]` is a pause. Marks are not billed. What is not well-formed is refused with 400, and what is not followed is " +
    "in `meta.cautions` and, where there is no `meta`, in the header `X-Antiphon-Cautions`.",
});
