# A reader who follows the chapter to the letter: the exercise asks for a paragraph on whether a decision is worth adopting,
# and not for figures. So the reasons are the chapter's own.

# %% answer id="decide"
decision = "placeholders"


def measured(session, decision):
    turns = replay(session, decision)
    return {"tokens": sum(tokens_per_turn(turns)), "lines": len(survivors(session.lines, turns[-1][-1]))}

# %% answer id="paragraph"
paragraph = """
Microcompaction is worth adopting in a personal agent. It keeps the most recent ten results of a fixed set of tools that
produce much text, and replaces older ones with a line. A model reasons about what it has just seen, so what is older can be
dropped cheaply, and in a long session the small trims add up. The cost is low, since the model can call the tool again when it
needs the text after all. Whether it is the right call depends on what the tools do: for tools that read files it is.
"""
