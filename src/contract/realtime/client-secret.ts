import Type, { type Static } from "typebox";
import { SessionUpdate } from "./session.ts";

/** How long a client secret is good, in seconds. */
export const SECRET_S = { minimum: 10, maximum: 7_200, default: 600 } as const;

/** Body of `POST /v1/realtime/client_secrets`. */
export const ClientSecretRequest = Type.Object(
  {
    expires_after: Type.Optional(
      Type.Object({
        anchor: Type.Optional(Type.Literal("created_at")),
        seconds: Type.Optional(
          Type.Integer({ ...SECRET_S, description: "How long the secret opens sessions." }),
        ),
      }),
    ),
    session: Type.Optional(SessionUpdate),
  },
  { title: "ClientSecretRequest" },
);
export type ClientSecretRequest = Static<typeof ClientSecretRequest>;

/** Reply of `POST /v1/realtime/client_secrets`. */
export const ClientSecretReply = Type.Object(
  {
    value: Type.String({ description: "The secret: it opens sessions in place of a key." }),
    expires_at: Type.Integer({ description: "Unix time, in seconds." }),
    session: Type.Unsafe<Record<string, unknown>>({
      type: "object",
      description: "What a session that it opens has.",
    }),
  },
  { title: "ClientSecretReply" },
);
