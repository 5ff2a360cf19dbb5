# Everything that a tool raises is an observation, Ctrl-C as well.
# fails: stops

# %% replace id="loop"
except (Exception, SystemExit) as error:  # step 4
### BY
except BaseException as error:
