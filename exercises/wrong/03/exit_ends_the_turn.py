# A tool that exits ends the turn, and the model never hears of it.
# fails: exit

# %% replace id="loop"
except (Exception, SystemExit) as error:  # step 4
### BY
except SystemExit:
    return "A tool has ended."
except Exception as error:
