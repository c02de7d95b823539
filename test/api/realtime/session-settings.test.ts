import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defaultSettings, updateSettings } from "../../../src/api/realtime/session-settings.ts";
import { JsonText } from "../../../src/contract/json/read-json.ts";
import { readClientEvent } from "../../../src/contract/realtime/client-events.ts";
import { MAX_TOOLS_CHARS } from "../../../src/contract/realtime/session.ts";
import { errorIn, SessionDriver, sentIn, VOICES } from "./session-driver.ts";

const VOICE_FIELD = "session.audio.output.voice";

describe("session.update", () => {
  it("changes the given fields alone and returns all settings", () => {
    const turn_detection = { type: "semantic_vad" as const, eagerness: "high" as const };
    const update = { instructions: "Be brief.", audio: { input: { turn_detection } } };
    const [done] = sentIn(new SessionDriver().update(update));
    const session = done!.session as { instructions: string; audio: object };
    const format = { type: "audio/pcm", rate: 24_000 };
    assert.equal(session.instructions, "Be brief.");
    assert.deepEqual(session.audio, {
      input: {
        format,
        turn_detection: { ...turn_detection, create_response: true, interrupt_response: true },
      },
      output: { format, voice: "alloy", speed: 1 },
    });
  });

  it("takes every known voice and refuses others", () => {
    const driver = new SessionDriver();
    const update = (voice: string | { id: string }) => driver.update({ audio: { output: { voice } } });
    const known = "0 1 Maya theo Alloy anna voice_0123456789 echo(2)+1".split(" ");
    const openAis = "alloy ash ballad cedar coral echo marin sage shimmer verse".split(" ");
    for (const voice of [{ id: "ash" }, ...known, ...openAis])
      assert.equal(sentIn(update(voice))[0]!.type, "session.updated");
    const { message, ...error } = errorIn(update({ id: "nobody" }));
    assert.deepEqual(error, { type: "invalid_request_error", code: "invalid_value", param: VOICE_FIELD });
    assert.match(message, /^session\.audio\.output\.voice "nobody" is unknown: the voices are maya, theo, /);
    for (const voice of ["alloy+ash", "alloy(0)", "Ann", "", "anna+ash"]) {
      const { param, code } = errorIn(update(voice));
      assert.deepEqual([param, code], [VOICE_FIELD, "invalid_value"], voice);
    }
    assert.equal(driver.session.settings.voice, "verse");
  });

  it("returns the speed that is used", () => {
    const driver = new SessionDriver();
    for (const [speed, used] of [
      [0.25, 0.5],
      [1.5, 1.5],
      [1.1, 1.1],
    ] as const) {
      const [event] = sentIn(driver.update({ audio: { output: { speed } } }));
      const { audio } = event!.session as { audio: { output: { speed: number } } };
      assert.equal(audio.output.speed, used);
    }
  });

  const read = (event: object) => readClientEvent(Buffer.from(JSON.stringify(event)));

  it("and other events take null for absent wherever a member may be absent", () => {
    const turn_detection = { type: "server_vad", threshold: null, silence_duration_ms: null };
    const transcription = { model: "whisper-1", language: null, prompt: null };
    const parts = { format: { type: "audio/pcm", rate: null }, transcription, turn_detection };
    const tools = [{ type: "function", name: "a", description: null, parameters: null }];
    const output = { format: null, voice: null, speed: null };
    const session = { audio: { input: parts, output }, tools, max_output_tokens: null };
    assert.deepEqual(read({ type: "session.update", event_id: null, session }), {
      type: "session.update",
      session: {
        audio: {
          input: {
            format: { type: "audio/pcm" },
            transcription: { model: "whisper-1" },
            turn_detection: { type: "server_vad" },
          },
          output: {},
        },
        tools: [{ type: "function", name: "a" }],
      },
    });
    const create = "conversation.item.create";
    for (const item of [
      { id: null, status: null, type: "message", role: "user", content: [] },
      { id: null, type: "function_call", name: "a", arguments: "{}", call_id: null },
    ])
      assert.equal(read({ type: create, event_id: null, item }).type, create);
    const response = { metadata: null, output_modalities: null };
    assert.equal(read({ type: "response.create", response }).type, "response.create");
  });

  it("refuses each field of the beta protocol that has moved, with its new name", () => {
    for (const [field, value, successor] of [
      ["modalities", ["text"], "output_modalities"],
      ["voice", "ash", "audio.output.voice"],
      ["speed", 1.2, "audio.output.speed"],
      ["input_audio_format", "g711_ulaw", "audio.input.format"],
      ["output_audio_format", "g711_ulaw", "audio.output.format"],
      ["input_audio_transcription", { model: "whisper-1" }, "audio.input.transcription"],
      ["input_audio_noise_reduction", { type: "near_field" }, "audio.input.noise_reduction"],
      ["turn_detection", null, "audio.input.turn_detection"],
      ["max_response_output_tokens", "inf", "max_output_tokens"],
    ] as const) {
      const param = `session.${field}`;
      const message = `${param} belongs to the beta protocol: send ${successor} instead`;
      assert.deepEqual(read({ type: "session.update", event_id: "a", session: { [field]: value } }), {
        type: "fault",
        code: "invalid_value",
        eventId: "a",
        message,
        param,
      });
    }
    const response = { modalities: ["text"] };
    assert.equal(read({ type: "response.create", response }).type, "fault");
  });

  it("keeps the voice once it has spoken", () => {
    const driver = new SessionDriver();
    driver.userTurn("Hello.");
    driver.replyWord("Yes", 0);
    assert.equal(errorIn(driver.update({ audio: { output: { voice: "ash" } } })).param, VOICE_FIELD);
  });
});

const TOOLS = [{ type: "function" as const, name: "clock" }];

describe("a session's functions", () => {
  const settings = defaultSettings("svc-beta-v0.3", VOICES);

  it("are returned as given if they can be called, and as none otherwise", () => {
    for (const [callsTools, expected] of [
      [() => false, [[], "none"]],
      [() => true, [TOOLS, "required"]],
    ] as const) {
      const driver = new SessionDriver({}, { callsTools });
      const [updated] = sentIn(driver.update({ tools: TOOLS, tool_choice: "required" }));
      const { tools, tool_choice } = updated!.session as { tools: unknown; tool_choice: unknown };
      assert.deepEqual([tools, tool_choice], expected);
    }
  });

  it("can be required by name while they exist", () => {
    const choiceAfter = (from: typeof settings, update: Parameters<typeof updateSettings>[1]) =>
      updateSettings(from, update, false).toolChoice;
    const clock = { name: "clock" };
    const tool_choice = { type: "function", name: "clock" };
    const named = updateSettings(settings, { tools: TOOLS, tool_choice }, false);
    assert.deepEqual(named.toolChoice, clock);
    const asChat = { type: "function", function: clock };
    assert.deepEqual(choiceAfter(named, { tool_choice: asChat }), clock);
    assert.deepEqual(choiceAfter(named, { instructions: "Be kind." }), clock);
    assert.equal(choiceAfter(named, { tools: [] }), "auto");
    assert.equal(choiceAfter(named, { tool_choice: null }), "auto");
    assert.deepEqual(updateSettings(named, { tools: null }, false).tools, []);
  });

  it("are refused with the name of the field", () => {
    const refused = (update: Parameters<typeof updateSettings>[1], param: string) => {
      for (const of of ["session", "response"] as const)
        assert.throws(() => updateSettings(settings, update, false, of), { param: `${of}.${param}` });
    };
    for (const tool_choice of ["clock", { type: "function", name: "clock" }, { type: "mcp" }])
      refused({ tool_choice }, "tool_choice");
    refused({ tools: [...TOOLS, ...TOOLS] }, "tools");
    const parameters = new JsonText(JSON.stringify({ text: "x".repeat(MAX_TOOLS_CHARS) }));
    refused({ tools: [{ ...TOOLS[0]!, parameters }] }, "tools");
  });
});
