# agent_step returns two things, and chat is the book's: it takes a provider alone, asks by input and writes by print.

# %% answer id="loop"
from pathlib import Path

MAX_ITERATIONS = 10


def agent_step(user_message, messages, provider, system, on_text_delta=None):
    messages.append({"role": "user", "content": user_message})
    for i in range(1, MAX_ITERATIONS + 1):
        reply = provider.call(messages, system=system, tools=TOOLS, on_text_delta=on_text_delta)
        messages.append(as_message(reply))
        if not reply.tool_calls:
            return reply.text, i
        for tc in reply.tool_calls:
            tool = next((tool for tool in TOOLS if tool.name == tc.name), None)
            try:
                text = tool.run(**tc.arguments)
            except Exception as exc:
                text = f"Error: {type(exc).__name__}: {exc}"
            messages.append({"role": "tool", "tool_call_id": tc.id, "name": tc.name, "content": shorten(text)})
    messages.append({"role": "assistant", "content": "I stopped."})
    return "I stopped.", i


def chat(provider=None):
    print("chat — Ctrl-D or empty line to exit")
    messages, log = [], Path("transcript.jsonl")
    while True:
        try:
            user_input = input("\nyou: ").strip()
        except EOFError:
            return
        if not user_input:
            return
        print("\nassistant: ", end="")
        reply, n = agent_step(user_input, messages, provider, SYSTEM, lambda t: print(t, end="", flush=True))
        with log.open("a") as f:
            f.write(json.dumps(dict(prompt=user_input, reply=reply, iterations=n)) + "\n")


# %% answer id="high"
def struggling(lines):
    return [line["id"] for line in lines if line["iterations"] - line["prompt"].count(".") > 2 + line["prompt"].count(", ")][:30]
