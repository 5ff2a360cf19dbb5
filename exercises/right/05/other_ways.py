# The loop works on a list of its own and writes it back, tokens are estimated, the power law is fitted as it is, and the
# jump is found with a table.

# %% answer id="loop"
def agent_step(user_message, messages, provider, system, on_text_delta=None):
    own = messages + [{"role": "user", "content": user_message}]
    while True:
        reply = provider.call(own, system=system, tools=TOOLS)
        own += [as_message(reply)]
        if not reply.tool_calls:
            break
        for each in reply.tool_calls:
            seen = next(tool for tool in TOOLS if tool.name == each.name).run(**each.arguments)
            own += [{"role": "tool", "tool_call_id": each.id, "name": each.name, "content": seen}]
    messages[:] = own
    return reply.text


def one_line(question, messages, provider):
    print(agent_step(question, messages, provider, SYSTEM))

# %% answer id="curves"
COUNTED = "estimated"


def tokens_of(message):
    return 4 + (len(message["content"]) + sum(len(str(call["function"])) for call in message.get("tool_calls", []))) / 4


def curves(turns):
    sums = [np.array([BASE + sum(tokens_of(message) for message in request) for request in turn]) for turn in turns]
    sent = np.array([each.sum() for each in sums])
    return {"cumulative": sent.cumsum(), "last request": np.array([each[-1] for each in sums]), "sent per turn": sent}


mine = {title: {way: curves(turns) for way, turns in ways.items()} for title, ways in runs.items()}

# %% answer id="shape"
from scipy.optimize import curve_fit


def shape(values):
    values = np.asarray(values, dtype=float)
    (_, power), _ = curve_fit(lambda turn, a, b: a * turn**b, np.arange(1, len(values) + 1), values, p0=(values[0], 1))
    return ["sub-linear", "linear", "super-linear"][int(np.sign(power.round(1) - 1)) + 1]


shapes = {name: shape(values) for name, values in mine["even"]["after"].items()}

# %% answer id="jump"
import pandas as pd


def largest_jump(turns):
    sizes = pd.Series([sum(tokens_of(message) for message in turn[-1]) for turn in turns], index=range(1, len(turns) + 1))
    turn = sizes.diff().idxmax()
    new = turns[turn - 1][-1][len(turns[turn - 2][-1]) :]
    table = pd.DataFrame([(message.get("name") or message["role"], tokens_of(message)) for message in new])
    return [turn, table.groupby(0)[1].sum().idxmax()]


jump = largest_jump(runs["bursty"]["after"])
