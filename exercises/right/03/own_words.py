# A loop of its own, in other words: capital letters do not matter, the hint comes with the list, notes are kept, the
# message is asked for by hand, and Ctrl-C ends the turn with a sentence.

# %% answer id="loop"
def hint(name):
    names = {tool.name.lower(): tool.name for tool in TOOLS}
    near = difflib.get_close_matches(name.lower(), names)
    listed = " | ".join(names.values())
    return f"You called something that is not here.\nMaybe you want {names[near[0]]}.\n[{listed}]" if near else f"Choose one of [{listed}]"


def in_words(error):
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:
        message = "(and it cannot say what it is)"
    notes = " / ".join(getattr(error, "__notes__", [])[:3])
    return f"the tool failed: {message} -- a {type(error).__name__} {notes}"


def agent_step(user_message, messages, provider, system, on_text_delta=None):
    messages += [{"role": "user", "content": user_message}]
    reply = provider.call(messages, system=system, tools=TOOLS)
    while reply.tool_calls:
        messages += [as_message(reply)]
        for each in reply.tool_calls:
            try:
                seen = next(tool for tool in TOOLS if tool.name == each.name).run(**each.arguments)
            except StopIteration:
                seen = hint(each.name)
            except SystemExit as ended:
                seen = f"the tool ended with {ended.code}"
            except Exception as error:
                seen = in_words(error)
            except BaseException:
                messages += [{"role": "tool", "tool_call_id": each.id, "name": each.name, "content": "interrupted"}]
                return "I was interrupted."
            messages += [{"role": "tool", "tool_call_id": each.id, "name": each.name, "content": seen[:4000]}]
        reply = provider.call(messages, system=system, tools=TOOLS)
    messages += [{"role": "assistant", "content": reply.text}]
    return reply.text
