# The per cent were guessed, the totals are right.
# fails: figures, paragraph-whole

# %% answer id="paragraph"
paragraph = """
Placeholders are worth adopting in an agent that lives long, and do nothing for one that does not. In the long session they
cut the bill from 2,832,865 to 1,543,776 prompt tokens, 64 % less. In the short chat they change nothing, since it has no more than ten
results of chatty tools. The price is what is out of sight: of the 1,322 lines that the tools of the long session returned, its
last call shows 250 instead of 1,267. Where a tool can be called again, that is a fair bargain.
"""
