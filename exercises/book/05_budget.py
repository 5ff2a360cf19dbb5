# A reader who follows the chapter to the letter: the chapter's loop, its second exercise's counter of texts for "the token
# cost of each turn", a fit for its question of the shape, and the turn where the per-turn curve bends most.

# %% answer id="loop"
MAX_ITERATIONS = 10


def agent_step(user_message, messages, provider, system, on_text_delta=None):
    messages.append({"role": "user", "content": user_message})
    for _ in range(MAX_ITERATIONS):
        reply = provider.call(messages, system=system, tools=TOOLS, on_text_delta=on_text_delta)
        if not reply.tool_calls:
            messages.append({"role": "assistant", "content": reply.text})
            return reply.text
        messages.append(as_message(reply))
        tools = {tool.name: tool for tool in TOOLS}
        for tc in reply.tool_calls:
            tool = tools.get(tc.name)
            if tool is None:
                observation = f"Error: there is no tool named {tc.name}"
            else:
                try:
                    observation = tool.run(**tc.arguments)
                except Exception as exc:
                    observation = f"Error: {type(exc).__name__}: {exc}"
            observation = truncate_observation(observation)
            messages.append({"role": "tool", "tool_call_id": tc.id, "name": tc.name, "content": observation})
    return ""


def one_line(question, messages, provider):
    agent_step(question, messages, provider, SYSTEM)

# %% replace id="curves"
asked = [call["function"] for call in message.get("tool_calls", [])]
return 4 + count(message["content"]) + sum(count(each["name"]) + count(each["arguments"]) for each in asked)
### BY
return count(message["content"])

# %% replace id="curves"
sent = [[BASE + sum(map(tokens_of, request)) for request in turn] for turn in turns]
### BY
sent = [[sum(map(tokens_of, request)) for request in turn] for turn in turns]

# %% replace id="jump"
size = [sum(map(tokens_of, request)) for request in last]
### BY
size = curves(turns)["sent per turn"]
