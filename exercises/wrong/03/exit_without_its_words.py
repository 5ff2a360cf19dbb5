# What a tool says as it exits is lost.
# fails: exit

# %% replace id="loop"
except (Exception, SystemExit) as error:  # step 4
    observation = explain(error)
### BY
except SystemExit:
    observation = "Error: the tool has ended"
except Exception as error:
    observation = explain(error)
