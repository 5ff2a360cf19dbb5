# Two figures and a verdict, in one sentence.
# fails: length, paragraph-whole

# %% answer id="paragraph"
paragraph = """
Yes: 1,543,776 tokens instead of 2,832,865.
"""
