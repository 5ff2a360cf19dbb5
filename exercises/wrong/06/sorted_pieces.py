# The texts come back in the order of the alphabet.
# fails: both-unseen

# %% replace id="measuring"
return [piece for piece in pieces if any(piece in text for text in shown)]
### BY
return sorted(piece for piece in pieces if any(piece in text for text in shown))[::-1]
