# A reader who follows the exercise's text to the letter: the closest name where there is one, and class and first line of
# format_exception_only.

# %% answer id="loop"
MAX_ITERATIONS = 10


def agent_step(user_message, messages, provider, system, on_text_delta=None):
    messages.append({"role": "user", "content": user_message})
    for _ in range(MAX_ITERATIONS):
        reply = provider.call(messages, system=system, tools=TOOLS, on_text_delta=on_text_delta)
        messages.append(as_message(reply))
        if not reply.tool_calls:
            return reply.text
        tools = {tool.name: tool for tool in TOOLS}
        for tc in reply.tool_calls:
            tool = tools.get(tc.name)
            if tool is None:
                close = difflib.get_close_matches(tc.name, tools)
                observation = f"Error: there is no tool named {tc.name}"
                if close:
                    observation += f". Did you mean {close[0]}?"
            else:
                try:
                    observation = tool.run(**tc.arguments)
                except Exception as exc:
                    observation = f"Error: {type(exc).__name__}: {traceback.format_exception_only(exc)[0]}"
            observation = truncate_observation(observation)
            messages.append({"role": "tool", "tool_call_id": tc.id, "name": tc.name, "content": observation})
    return ""
