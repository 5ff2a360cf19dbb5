"""The builder: from one source per exercise to the notebooks, the checks and the class bundle.

The steps, from the file that a person edits to the files that are handed out:

- `source`: `exercises/source/NN_name.py`, cell by cell
- `refusals`: what no exercise may hold, found by reading
- `trial`: an exercise run on given answers, in a process of its own
- `proof`: what only running it shows: the solution passes, the unsolved notebook and trivial answers do not
- `answers`: whole answers to an exercise in files: wrong ones, unusual right ones, the book's
- `trust`: what the checks pay each of those, beside what it is owed
- `notebooks`: the student's notebook and the solution
- `nbgrader`: the same for nbgrader
- `build`: all of it, written or compared
- `release`: the class bundle, without answers

In the notebooks themselves run `probe` (what a check looks at), `pictures` (what a session cost, what a cut keeps) and
`beside` (a student's code and the package's).

The third exercise has `mistakes` besides (a model that misspells tools and mends that by what it is told; tools that
fail), the fourth `transcripts`, the fifth `ten_turns` and `turn_curves`, the sixth `decisions` (a production agent's),
`recorded` (sessions run again through a student's loop), `measured` (what they cost, by the course) and `figures`
(whether a paragraph's are the measured ones).
"""
