"""Questions of a newcomer that were kept aside while the rules were written: the score here is the honest one."""

from __future__ import annotations

from test_offline_newcomer import Chat, begins, divide, weather

TASKS = {}


def task(function):
    TASKS[function.__name__] = function
    return function


@task
def minutes_since_the_question_about_the_time(chat):
    chat.ask("Can you tell me the time?", "Show sub/server.log", "Are there any errors in sub/server.log?")
    reply = chat.ask("How much time has passed since I asked for the time?")
    return "41 seconds" in reply and "2026-03-01" not in reply


@task
def a_told_time_is_not_taken_from_a_quoted_log_line(chat):
    reply = chat.ask("Show the first line of sub/server.log", "How long ago did I ask that?")
    return "cannot say" in reply


@task
def read_the_longest_one(chat):
    chat.ask("List the files.", "Read the longest one")
    return ("read_file", {"path": "sub/server.log"}) in chat.calls


@task
def smallest_file(chat):
    return chat.ask("What's the smallest file?").startswith("pkg/data.csv")


@task
def all_files_with_subfolders(chat):
    return "9 files" in chat.ask("How many files are there, including subfolders?")


@task
def log_files_in_sub(chat):
    return "1 log file" in chat.ask("How many log files are in sub?")


@task
def slowest_request(chat):
    reply = chat.ask("Which request took the longest in server.log?")
    return "/item/41 " in reply and "/item/40 " not in reply and "900" in reply


@task
def deep_base_name(chat):
    return "sub/tools/clean.py" in chat.ask("Read clean.py")


@task
def any_warnings(chat):
    return chat.ask("Are there any warnings in sub/server.log?").startswith("No")


@task
def how_many_lines_mention_a_plain_word(chat):
    reply = chat.ask("How many lines of notes.txt mention tax?")
    return begins(reply, "2 lines") and "case ignored" in reply


@task
def does_it_mention_nothing(chat):
    return chat.ask("Does README.md mention Ben?").startswith("No")


@task
def is_there_a_todo(chat):
    reply = chat.ask("Is there a TODO in shop.py?")
    return reply.startswith("Yes") and "17" in reply


@task
def what_is_debug_set_to(chat):
    return "false" in chat.ask("What is debug set to in config.json?").lower()


@task
def fix_a_bug(chat):
    reply = chat.ask("Fix the bug in shop.py")
    return not chat.calls and len(reply) < 120


@task
def and_the_readme(chat):
    reply = chat.ask("How many lines does shop.py have?", "And the README?")
    return "README.md" in reply and "11 lines" in reply


@task
def open_notes(chat):
    return "Ask Ben" in chat.ask("open notes")


@task
def functions_of_shop(chat):
    reply = chat.ask("What functions does shop.py have?")
    return "load" in reply and "main" in reply


@task
def repeat_the_last_answer(chat):
    first = chat.ask("What time is it?")
    return first in chat.ask("Repeat your last answer")


@task
def my_previous_question(chat):
    return '"Read notes.txt"' in chat.ask("What time is it?", "Read notes.txt", "What was my previous question?")


@task
def the_first_file_of_the_list(chat):
    chat.ask("List the files in pkg.", "Open the first file of the list")
    return chat.calls[-1:] == [("read_file", {"path": "pkg/a.py"})]


@task
def dividing_in_words(chat):
    chat.ask("What is twenty divided by four?")
    return chat.calls == [("divide", {"x": 20, "y": 4})]


@task
def weather_today(chat):
    reply = chat.ask("How is the weather today?")
    return not chat.calls and "city" in reply


@task
def summary_of_a_readme(chat):
    reply = chat.ask("Give me a summary of README.md")
    return "xtract" in reply and "Use" in reply and "Tests" in reply


@task
def one_line_of_refusal_without_a_label_the_second_time(chat):
    reply = chat.ask("Who won the world cup?", "What is love?")
    return "\n" not in reply and len(reply) < 200 and "rule-based" not in reply


def test_score(tmp_path):
    """Solved before the rules: 3 of 24; when they were first tried: 22; later ones may not do worse than now."""
    missed = []
    for name, solves in TASKS.items():
        (root := tmp_path / name).mkdir()
        if not solves(Chat(root, divide, weather)):
            missed.append(name)
    assert not missed, f"missed: {', '.join(missed)}"
