# The cumulative curve adds up last requests.
# fails: three, curves-unseen, curves-mine

# %% replace id="curves"
return {"last request": last, "sent per turn": per_turn, "cumulative": list(accumulate(per_turn))}
### BY
return {"last request": last, "sent per turn": per_turn, "cumulative": list(accumulate(last))}
