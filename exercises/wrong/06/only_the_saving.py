# Nothing is said of what it cost before.
# fails: told, paragraph-whole

# %% answer id="paragraph"
paragraph = """
Placeholders are worth adopting in an agent that lives long, and do nothing for one that does not. In the long session they
save 1,289,089 prompt tokens, 46 % of the bill, and in the short chat they save nothing, since it has no more than ten results of
chatty tools. Where a tool can be called again, as with files, that is a fair bargain, and where it cannot I would not do it.
"""
