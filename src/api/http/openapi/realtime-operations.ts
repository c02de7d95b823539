import { ClientSecretReply } from "../../../contract/realtime/session.ts";
import { ErrorEnvelope } from "../../../contract/replies.ts";
import type { Json, Ref } from "./components.ts";
import { generation } from "./operations.ts";
import { publishedClientSecret } from "./request-schemas.ts";
import { failures, json, success } from "./responses.ts";

/** The paths of spoken conversations. What goes over the WebSocket is beyond such a document. */
export function realtimePaths(ref: Ref): Json {
  return {
    "/v1/realtime": {
      get: {
        operationId: "realtime",
        summary: "A spoken conversation, over a WebSocket",
        tags: ["speech"],
        description:
          "OpenAI's Realtime protocol, events in JSON both ways. The key is in a header, or, from browsers, in the " +
          "subprotocol `openai-insecure-api-key.<key or client secret>` beside `realtime`. What is refused is refused " +
          "before the upgrade. A session takes one token from the key's bucket, and so does each reply in it.",
        parameters: [
          optional("model", "A public model id; those that begin with `gpt-` are the default model."),
          optional("intent", "`transcription` opens a session that writes what is said, and does not reply."),
        ],
        responses: {
          101: { description: "Switching to the WebSocket protocol" },
          426: {
            ...success(json(ref(ErrorEnvelope)), "Not a WebSocket: connect with an Upgrade header", [
              "Upgrade",
            ]),
          },
          ...failures([400, 401, 404, 429, 500, 502]),
        },
      },
    },
    "/v1/telephony/twilio": {
      get: {
        operationId: "twilioCall",
        summary: "A telephone call by Twilio's Media Streams, over a WebSocket",
        tags: ["speech"],
        security: [],
        description:
          "Name it as the `url` of a `<Stream>` in TwiML. The key, or a client secret, is its `<Parameter>` `key`, beside " +
          "which there may be `model`, `voice`, `instructions` and `language`. A call is a realtime session, and counts as " +
          "one. What is refused then is how the socket is closed: 1008, or 1013 where it may be tried again. A server that " +
          "has Twilio's auth token answers 401 unless `X-Twilio-Signature` is valid, whatever key is sent.",
        parameters: [
          optional("key", "A key or a client secret, for programs other than Twilio; 401 if it is invalid."),
        ],
        responses: {
          101: { description: "Switching to the WebSocket protocol" },
          426: {
            ...success(json(ref(ErrorEnvelope)), "Not a WebSocket: connect with an Upgrade header", [
              "Upgrade",
            ]),
          },
          ...failures([400, 401, 429, 500, 502]),
        },
      },
    },
    "/v1/realtime/client_secrets": {
      post: generation("createClientSecret", "A secret for a page or an app, which opens realtime sessions", {
        body: ref(publishedClientSecret),
        examples: CLIENT_SECRET_EXAMPLES,
        content: json(ref(ClientSecretReply)),
        description:
          "It opens sessions in place of the key until it expires, and they are metered by that key. Sessions that are " +
          "open by then go on.",
      }),
    },
  };
}

function optional(name: string, description: string): Json {
  return { name, in: "query", required: false, description, schema: { type: "string" } };
}

const CLIENT_SECRET_EXAMPLES: Json = {
  shortest: { summary: "For ten minutes", value: {} },
  configured: {
    summary: "For an hour, with the session's settings",
    value: {
      expires_after: { anchor: "created_at", seconds: 3_600 },
      session: { type: "realtime", instructions: "Be brief.", audio: { output: { voice: "alloy" } } },
    },
  },
};
