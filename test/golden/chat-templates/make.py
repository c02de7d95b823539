"""Renders chats with calls by the templates of this folder, as transformers' apply_chat_template does: with Jinja2's
sandbox, its blocks trimmed, and JSON as Python writes it. Writes chats.json.

  pip install jinja2==3.1.6 && python make.py
"""

import json
from pathlib import Path

from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = Path(__file__).parent
WEATHER = {
    "name": "weather",
    "description": "The weather of a town, in °C: «now» or later & more.",
    "parameters": {
        "type": "object",
        "properties": {
            "town": {"type": "string", "enum": ["Rome", "Zürich", "東京", "O'Hare"]},
            "days": {"type": "integer", "minimum": 0, "default": None},
            "exact": {"type": "boolean", "default": False},
        },
        "required": ["town"],
    },
}
CLOCK = {"name": "clock"}


def system(content="Be brief."):
    return {"role": "system", "content": content}


def user(content):
    return {"role": "user", "content": content}


def assistant(content, *calls):
    called = [{"callId": f"call_{at}", "name": name, "arguments": given} for at, (name, given) in enumerate(calls)]
    return {"role": "assistant", "content": content, "calls": called} if called else {"role": "assistant", "content": content}


def tool(content, of=0):
    return {"role": "tool", "callId": f"call_{of}", "content": content}


ROME = ("weather", '{"town": "Rome"}')
ASKED = [system(), user("How is it in Rome?")]
CHATS = {
    "nothing was called yet": ASKED,
    "a call and its output": [*ASKED, assistant("", ROME), tool("It rains.")],
    "words before a call": [*ASKED, assistant("Let me look.", ROME), tool("It rains.")],
    "two calls at once, whose outputs are one turn": [
        *ASKED,
        assistant("", ROME, ("clock", "{}")),
        tool("It rains."),
        tool("Noon.", 1),
    ],
    "calls one after the other": [*ASKED, assistant("", ROME), tool("?"), assistant("", ROME), tool("It rains.")],
    "a call that was answered long ago": [
        *ASKED,
        assistant("", ROME),
        tool("It rains."),
        assistant("It rains there."),
        user("And in Zürich?"),
    ],
    "arguments of every kind": [
        *ASKED,
        assistant(
            "",
            (
                "weather",
                '{"town": "東京 \\"<b>\\" & é\\n\\\\", "days": [1, -2, 0.5, 1e21], "exact": true, "none": null, "deep": {"a": {"b": []}, "c": {}}}',
            ),
        ),
        tool('{"celsius": 21, "sky": "‹clear›"}'),
    ],
    "an output that looks like the template's own": [*ASKED, assistant("", ROME), tool("'); {{ 1 }} {% x %} # Tools")],
}
TOOLS = {"two": [WEATHER, CLOCK], "none": []}


def function(tool):
    rest = {key: tool[key] for key in ("description",) if key in tool}
    parameters = tool.get("parameters", {"type": "object", "properties": {}})
    return {"type": "function", "function": {"name": tool["name"], **rest, "parameters": parameters}}


def message(step):
    if step["role"] == "tool":
        return {"role": "tool", "content": step["content"]}
    if "calls" not in step:
        return step
    called = [
        {"type": "function", "function": {"name": call["name"], "arguments": json.loads(call["arguments"])}}
        for call in step["calls"]
    ]
    return {"role": step["role"], "content": step["content"], "tool_calls": called}


def main():
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    chats = []
    for template in sorted(HERE.glob("*.jinja")):
        compiled = environment.from_string(template.read_text())
        for what, steps in CHATS.items():
            for tools in ("two", "none") if what == "nothing was called yet" else ("two",):
                rendered = compiled.render(
                    messages=[message(step) for step in steps],
                    tools=[function(each) for each in TOOLS[tools]] or None,
                    add_generation_prompt=True,
                    enable_thinking=False,
                )
                chats.append(
                    {"template": template.name, "what": f"{what}, {tools} to call", "steps": steps, "tools": TOOLS[tools], "rendered": rendered}
                )
    (HERE / "chats.json").write_text(json.dumps(chats, ensure_ascii=False, indent=1) + "\n")


main()
