# The decision has the name that nanobot's method has.
# fails: chosen, numbers-right, told, figures, paragraph-whole

# %% replace id="decide"
decision = "placeholders"
### BY
decision = "microcompact"
