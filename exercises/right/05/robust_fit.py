# A fit that no single turn can bend, without the first turn; the package's formula for a message; answers typed by hand.

# %% answer id="curves"
COUNTED = "exact"


def tokens_of(message):
    tokens = 4 + count(message["content"])
    for each in message.get("tool_calls") or []:
        tokens += 3 + count(each["function"]["name"]) + count(each["function"]["arguments"])
    return tokens + (1 + count(message["name"]) if message["role"] == "tool" else 0)


def curves(turns):
    found = {"last request": [], "sent per turn": [], "cumulative": []}
    total = 0
    for turn in turns:
        sent = 0
        for request in turn:
            size = BASE
            for message in request:
                size += tokens_of(message)
            sent += size
        total += sent
        found["last request"].append(size)
        found["sent per turn"].append(sent)
        found["cumulative"].append(total)
    return found


mine = {title: {way: curves(turns) for way, turns in ways.items()} for title, ways in runs.items()}

# %% answer id="shape"
from scipy.stats import theilslopes


def shape(values):
    turns = range(2, len(values) + 1)
    power = round(theilslopes(np.log(values[1:]), np.log(turns)).slope, 1)
    if power < 1:
        return "sub-linear"
    return "super-linear" if power > 1 else "linear"


shapes = {"last request": "sub-linear", "sent per turn": "linear", "cumulative": "super-linear"}
