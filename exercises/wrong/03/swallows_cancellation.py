# Ctrl-C goes through, and the end of a cancelled task does not.
# fails: stops

# %% replace id="loop"
except (Exception, SystemExit) as error:  # step 4
### BY
except KeyboardInterrupt:
    raise
except BaseException as error:
