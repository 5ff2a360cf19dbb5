"""The offline model as a provider: limits, streaming, usage, recovery, misbehaviour, the dialogue about the time."""

from __future__ import annotations

import json

import pytest
from test_offline_bench import FILES, World, session, spec

from agentlab.budgets import Scope
from agentlab.errors import Cancelled, ContextWindowError, InputError, MissingRanksError
from agentlab.providers import adapt
from agentlab.providers.offline import OfflineModel, counting

USER = {"role": "user", "content": "What time is it?"}


def model(**options):
    return OfflineModel(**{"counter": "characters/4"} | options)


def ask(messages, tools=(), provider=None, **options):
    return (provider or model()).call(messages, system="Be brief.", tools=list(tools), **options)


# -- a provider like another


def test_is_a_provider_that_is_taken_as_it_is():
    provider = model()
    assert adapt(provider) is provider
    assert "rule-based, not an LLM" in repr(provider)


def test_same_input_same_output():
    tools = World().tools()
    assert ask([USER], tools) == ask([USER], tools)


def test_says_a_call_with_its_stop_reason_and_model():
    reply = ask([USER], World().tools())
    assert (reply.stop_reason, reply.model) == ("tool_use", "offline-rules-1")
    assert [(c.id, c.name, c.arguments) for c in reply.tool_calls] == [("call_1", "now", {})]


def test_streams_what_it_returns():
    pieces = []
    reply = ask([{"role": "user", "content": "Hello"}], on_text_delta=pieces.append)
    assert "".join(pieces) == reply.text
    assert len(pieces) > 5


def test_a_piece_has_as_many_words_as_asked():
    one, many = [], []
    ask([{"role": "user", "content": "Hello"}], on_text_delta=one.append)
    ask([{"role": "user", "content": "Hello"}], provider=model(piece=10), on_text_delta=many.append)
    assert "".join(one) == "".join(many)
    assert len(many) == -(-len(one) // 10)


def test_stops_streaming_when_the_scope_is_cancelled():
    scope, pieces = Scope(), []

    def paint(piece):
        pieces.append(piece)
        if len(pieces) == 3:
            scope.cancel("enough")

    with pytest.raises(Cancelled, match="enough"):
        ask([{"role": "user", "content": "Hello"}], on_text_delta=paint, scope=scope)
    assert len(pieces) == 3


def test_waits_between_pieces_within_the_scope():
    with pytest.raises(Exception, match="time for this run is over"):
        ask([{"role": "user", "content": "Hello"}], provider=model(delay=5), on_text_delta=print, scope=Scope(0.05))


def test_a_prompt_over_the_window_fails_before_any_text():
    pieces = []
    with pytest.raises(ContextWindowError, match=r"characters/4.*drop or shorten") as caught:
        ask([{"role": "user", "content": "word " * 500}], provider=model(window=100), on_text_delta=pieces.append)
    assert pieces == []
    assert caught.value.window == 100
    assert caught.value.prompt_tokens > 600


def test_usage_names_its_tokenizer_and_is_exact():
    provider = OfflineModel()
    usage = ask([USER], World().tools(), provider).usage
    assert provider.tokenizer == "o200k_base"
    assert usage.exact
    assert usage.prompt_tokens > 100
    assert usage.output_tokens == 2


def test_usage_by_length_is_an_estimate():
    assert not ask([USER]).usage.exact


def test_without_rank_files_it_estimates(monkeypatch):
    def missing(*_args, **_kwargs):
        raise MissingRanksError("no ranks")

    monkeypatch.setattr(counting, "message_counter", missing)
    provider = OfflineModel()
    assert not ask([USER], provider=provider).usage.exact
    assert provider.tokenizer == "characters/4"


def test_counts_each_message_once(monkeypatch):
    counted = []

    def counter(_encoding):
        return lambda message: counted.append(message) or type("Count", (), {"n": 7})()

    monkeypatch.setattr(counting, "message_counter", counter)
    provider = OfflineModel()
    messages = [USER]
    for i in range(20):
        ask(messages, provider=provider)
        messages += [{"role": "assistant", "content": "It is noon."}, {"role": "user", "content": f"Thanks {i}"}]
    assert len([m for m in counted if m["role"] != "system"]) == 39


def test_a_changed_message_is_counted_again():
    provider = model()
    first = ask([USER], provider=provider).usage.prompt_tokens
    longer = ask([{**USER, "content": "What time is it? " * 40}], provider=provider).usage.prompt_tokens
    again = ask([USER], provider=provider).usage.prompt_tokens
    assert first == again
    assert longer > first + 100


def test_an_output_limit_cuts_text_and_is_kept():
    reply = ask([{"role": "user", "content": "Hello"}], max_output_tokens=8)
    assert reply.stop_reason == "max_tokens"
    assert 0 < reply.usage.output_tokens <= 8
    assert reply.text == ask([{"role": "user", "content": "Hello"}]).text[: len(reply.text)]


def test_an_output_limit_cuts_a_call_in_the_middle():
    call = {"role": "user", "content": f"How many words are in '{'rose ' * 100}'?"}
    reply = ask([call], World().tools(), max_output_tokens=20)
    assert reply.stop_reason == "max_tokens"
    assert [type(c.arguments) for c in reply.tool_calls] == [str]
    with pytest.raises(json.JSONDecodeError):
        json.loads(reply.tool_calls[0].arguments)


def test_goes_on_where_a_reply_was_cut():
    asked = {"role": "user", "content": "Hello"}
    whole = ask([asked]).text
    first = ask([asked], max_output_tokens=20).text
    note = {"role": "user", "origin": "loop", "content": "Your last reply was cut at the output limit. Go on."}
    second = ask([asked, {"role": "assistant", "content": first}, note])
    assert first + second.text == whole
    assert second.stop_reason == "end_turn"


def test_tool_choice_none_answers_with_what_it_has():
    reply = ask([USER], World().tools(), tool_choice="none")
    assert reply.tool_calls == ()
    assert "Partial result" in reply.text
    assert "What time is it" in reply.text


def test_tool_choice_any_calls_even_where_nothing_is_needed():
    tools = World().tools()
    reply = ask([{"role": "user", "content": "Hello"}], tools, tool_choice="any")
    assert len(reply.tool_calls) == 1
    assert reply.tool_calls[0].name in {t.name for t in tools}


@pytest.mark.parametrize("note", ["2 turns left.", "You have 3 iterations left; plan."])
def test_a_note_with_turns_left_is_no_user_turn_and_no_end(note):
    reply = ask([USER, {"role": "user", "content": note, "origin": "loop"}], World().tools())
    assert [c.name for c in reply.tool_calls] == ["now"]


@pytest.mark.parametrize("note", ["This is the last turn: answer with what you have.", "1 turn left."])
def test_a_note_that_it_is_over_makes_it_answer(note):
    reply = ask([USER, {"role": "user", "content": note, "origin": "loop"}], World().tools())
    assert reply.tool_calls == ()
    assert "Partial" in reply.text


def test_continue_after_a_partial_result_takes_the_work_up_again():
    world, messages = World(), []
    provider = model(max_steps_per_turn=1)
    first = world.turn("How many words are in zen.txt?", messages, provider, world.tools())
    assert "Partial result" in first
    assert "10 words" in world.turn("continue", messages, provider, world.tools())
    assert [name for name, _ in world.calls] == ["read_file", "wordcount"]


def test_stops_at_its_own_cap_of_calls():
    world = World({f"f{i}.txt": "x " * 3_000 for i in range(30)}, limit=10_000)
    files = " ".join(f"f{i}.txt" for i in range(30))
    reply = session(world, [f"Read {files}"], model=model(max_calls_per_turn=5))[0]
    assert len(world.calls) == 5
    assert "Partial result" in reply


@pytest.mark.parametrize(
    "options",
    [
        {"wording": "loud"},
        {"counter": "guess"},
        {"window": 0},
        {"piece": 0},
        {"misbehave": "rudely"},
        {"misbehave": {0: "blank"}},
        {"max_steps_per_turn": 0},
    ],
)
def test_refuses_settings_that_it_does_not_know(options):
    with pytest.raises(InputError, match="expected"):
        OfflineModel(**options)


# -- the chapter's dialogue about the time, in three ways

ASKED, THEN = "What time is it?", "how long has it been since I asked?"


def without_continuation(wording):
    """The second turn sees of the first only the user's text and the reply."""
    world, provider = World(), model(wording=wording)
    first = world.turn(ASKED, [], provider, world.tools())
    reduced = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": first}]
    return first, world.turn(THEN, reduced, provider, world.tools())


def test_with_continuation_it_subtracts_the_timestamp_of_the_tool_result():
    for wording in ("quote", "words"):
        replies = session(World(), [ASKED, THEN], model=model(wording=wording))
        assert "41 seconds" in replies[1]
        assert "2026-05-13T15:40:22Z → 2026-05-13T15:41:03Z" in replies[1]


def test_without_continuation_a_quoted_timestamp_still_answers():
    first, second = without_continuation("quote")
    assert "2026-05-13T15:40:22Z" in first
    assert "41 seconds" in second


def test_without_continuation_rounded_words_cannot_answer():
    first, second = without_continuation("words")
    assert "a quarter to four" in first
    assert "2026" not in first
    assert "cannot say" in second
    assert "seconds" not in second


def test_how_long_since_an_earlier_question():
    prompts = ["What time is it?", "Read zen.txt and tell me the time.", "Tell me the time once more."]
    assert "1 minute 22 seconds" in session(World(), [*prompts, "How long since I asked about zen.txt?"])[3]
    assert "2 minutes 3 seconds" in session(World(), [*prompts, "How long since I first asked?"])[3]
    assert "41 seconds" in session(World(), [*prompts, "How long has it been since then?"])[3]


# -- reading observations


@pytest.mark.parametrize("cut", ["middle", "end", "start"])
def test_pages_to_the_line_that_was_cut(cut):
    world = World(cut=cut)
    reply = session(world, ["Find the line with FATAL in big.log"], world.tools(without=("grep",)))[0]
    assert "big.log:61: 2026-03-01 entry 061 FATAL disk sda7 is full" in reply


def test_says_that_it_saw_a_part_where_the_rest_cannot_be_fetched():
    world = World()
    tools = [spec("cat", "Show a file.", lambda file: world.files[file], ("file",), file="string")]
    reply = session(world, ["How many words are in big.log?"], tools)[0]
    assert "cannot count all words" in reply
    assert "were cut from the middle" in reply


def test_reads_on_by_lines_where_no_result_is_stored():
    world = World()
    reply = session(world, ["Find the line with FATAL in big.log"], world.tools(without=("grep", "read_result")))[0]
    assert "sda7" in reply
    assert all(name == "read_file" for name, _ in world.calls)


def test_the_size_of_a_cut_file_is_the_size_of_the_whole():
    text = FILES["big.log"]
    reply = session(World(), ["How long is big.log?"])[0]
    assert f"120 lines, {len(text):,} characters" in reply


def test_what_changed_between_two_readings():
    world, messages = World(dict(FILES)), []
    world.turn("Read config.ini", messages, model(), world.tools())
    world.files["config.ini"] = world.files["config.ini"].replace("8040", "9090")
    reply = world.turn("Has config.ini changed?", messages, model(), world.tools())
    assert "port = 9090" in reply
    assert "changed" in reply


def test_a_removed_result_is_fetched_by_its_id():
    world, messages = World(), []
    world.turn("Read big.log", messages, model(), world.tools())
    key = next(iter(world.store))
    tool = next(m for m in messages if m["role"] == "tool")
    view = [
        {**m, "content": f'[removed to save room; read_result("{key}") returns it]'} if m is tool else m
        for m in messages
    ]
    reply = world.turn("How long is it?", view, model(), world.tools())
    assert world.calls[-1][0] == "read_result"
    assert "big.log" in reply


def test_forgets_what_is_not_in_the_request():
    reply = session(World(), ["Which of the files that you read was largest?"])[0]
    assert "no earlier observation" in reply


def test_a_count_of_hits_that_were_not_all_seen_says_at_least():
    world = World()
    found = "\n".join(f"a.py:{n}: TODO {n}" for n in range(1, 6)) + "\n(stopped at 5 matches: narrow the pattern)"
    tool = spec("grep", "Search files for a regular expression.", lambda pattern: found, ("pattern",), pattern="string")
    assert 'At least 5 lines with "TODO"' in session(world, ["Find TODO"], [tool])[0]
    assert "stopped at 5 matches" in session(world, ["How many lines mention 'TODO'?"], [tool])[0]


FEW = [("Show the first line of big.log", 1), ("Show the last 3 lines of big.log", 3)]


@pytest.mark.parametrize(("prompt", "lines"), FEW)
def test_shows_as_many_lines_as_asked(prompt, lines):
    assert session(World(), [prompt])[0].count("entry") == lines


def test_a_file_below_is_found_by_its_name_where_no_search_takes_a_glob():
    world = World({"src/app/loop.py": "x = 1\n", "src/poop.py": "y = 2\n"})
    reply = session(world, ["How many lines does loop.py have?"], world.tools(without=("grep",)))[0]
    assert "I take src/app/loop.py" in reply
    assert "1 line, 6 characters" in reply


def test_each_page_of_a_cut_result_is_asked_for_once():
    world = World()
    session(world, ["Find the line with FATAL in big.log"], world.tools(without=("grep",)))
    starts = [arguments["start"] for name, arguments in world.calls if name == "read_result"]
    assert len(starts) == len(set(starts)) > 1


# -- recovery


def test_a_missing_file_gets_the_closest_name_and_says_so():
    reply = session(World(), ["Read confg.ini"])[0]
    assert "There is no confg.ini; the closest name is config.ini" in reply
    assert "port = 8040" in reply


def test_gives_up_honestly_after_two_more_tries():
    def refuse(path):
        raise PermissionError(f"no permission for {path}")

    world = World()
    tool = spec("read_file", "Read a file.", refuse, ("path",), path="string")
    reply = session(world, ["Read zen.txt"], [tool])[0]
    assert 1 <= len(world.calls) <= 3
    assert "could not read zen.txt" in reply
    assert "no permission" in reply


def test_a_field_that_an_error_names_is_corrected():
    def book(day):
        if day not in ("mon", "tue"):
            raise ValueError(f"`day`: expected one of 'mon', 'tue', got {day!r}")
        return f"booked for {day}"

    world = World()
    reply = session(
        world, ["Book a table on Monday"], [spec("book_table", "Book a table.", book, ("day",), day="string")]
    )[0]
    assert world.calls == [("book_table", {"day": "Monday"}), ("book_table", {"day": "mon"})]
    assert "The error names `day`; I correct it." in reply
    assert "booked for mon" in reply


def test_a_tool_that_needs_what_the_text_lacks_is_not_called():
    world = World()
    tool = spec("weather", "Weather of a city.", lambda city: city, ("city",), city="string")
    reply = session(world, ["weather?"], [tool])[0]
    assert world.calls == []
    assert "`city`" in reply


@pytest.mark.parametrize("kind", ["bad_json", "unknown_tool", "wrong_arguments"])
def test_recovers_from_its_own_misbehaviour(kind):
    world = World()
    reply = session(world, ["Read zen.txt"], model=model(misbehave=kind))[0]
    assert "Beautiful is better than ugly" in reply
    assert len(world.calls) == 2
    assert world.calls[0] != world.calls[1]


def test_misbehaves_at_the_iteration_that_is_named():
    world = World()
    session(world, ["How many words are in zen.txt?"], model=model(misbehave={2: "unknown_tool"}))
    assert [name for name, _ in world.calls] == ["read_file", "wordcoun", "wordcount"]


def test_says_why_it_calls_again():
    world, messages = World(), []
    world.turn("Read zen.txt", messages, model(misbehave="unknown_tool"), world.tools())
    said = [m["content"] for m in messages if m["role"] == "assistant"]
    assert "`read_fil` failed" in said[1]


def test_a_cut_reply_ends_in_the_middle_of_a_call():
    reply = ask([{"role": "user", "content": "Read zen.txt"}], World().tools(), model(misbehave="cut_reply"))
    assert reply.stop_reason == "max_tokens"
    assert isinstance(reply.tool_calls[0].arguments, str)
    note = {"role": "user", "origin": "loop", "content": "Your last reply was cut at the output limit. It was not run."}
    again = ask([{"role": "user", "content": "Read zen.txt"}, note], World().tools(), model(misbehave="cut_reply"))
    assert again.stop_reason == "tool_use"
    assert again.tool_calls[0].arguments == {"path": "zen.txt"}


def test_a_blank_reply_comes_once():
    provider = model(misbehave="blank")
    asked = {"role": "user", "content": "Hello"}
    assert ask([asked], provider=provider).text == ""
    note = {"role": "user", "origin": "loop", "content": "Your last reply was empty. Answer the user's message."}
    assert ask([asked, note], provider=provider).text.startswith("Hello")


@pytest.mark.parametrize(("kind", "distinct"), [("endless", 1), ("endless_varied", 9)])
def test_an_endless_model_never_answers(kind, distinct):
    world = World()
    with pytest.raises(AssertionError, match="no final reply"):
        world.turn("Read zen.txt", [], model(misbehave=kind), world.tools(), cap=10)
    assert len(world.calls) == 10
    assert len({json.dumps(call) for call in world.calls}) >= distinct


# -- summaries

TRANSCRIPT = """user: Read argparse.py for Ada Lovelace
assistant: argparse.py has 2630 lines.
tool: result 0a1b2c3d4e5f stored
user: Book order W4412 at 2026-05-13T15:40:22Z
assistant: Done, 99661 characters were read by parse_args."""


def test_summarises_a_conversation_that_it_is_given():
    reply = model().call([{"role": "user", "content": TRANSCRIPT}], system="Summarise this conversation.", tools=[])
    for fact in ("argparse.py", "Ada Lovelace", "W4412", "2026-05-13T15:40:22Z", "99661", "0a1b2c3d4e5f", "parse_args"):
        assert fact in reply.text
    assert reply.tool_calls == ()


def test_a_summary_is_shorter_than_a_long_conversation():
    turns = (f"user: question {i} about file_{i}.py\nassistant: {'word ' * 50}" for i in range(200))
    long = "Summarise:\n" + "\n".join(turns) + " and order W4412"
    text = ask([{"role": "user", "content": long}]).text
    assert "extractive" in text
    assert "W4412" in text
    assert len(text) < len(long) / 5


def test_sums_up_its_own_session():
    reply = session(World(), ["Read zen.txt", "What time is it?", "Summarise what we did so far."])[2]
    assert "Read zen.txt" in reply
    assert "2026-05-13T15:40:22Z" in reply
