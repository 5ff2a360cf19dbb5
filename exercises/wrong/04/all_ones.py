# All turns with one iteration, greetings and thanks among them.
# fails: low-monday, low-week

# %% replace id="low"
return [line["id"] for line in named if line["iterations"] == 1]
### BY
return [line["id"] for line in lines if line["iterations"] == 1]
