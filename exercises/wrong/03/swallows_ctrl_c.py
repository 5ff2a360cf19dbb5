# Ctrl-C is named among what is caught.
# fails: stops

# %% replace id="loop"
except (Exception, SystemExit) as error:  # step 4
### BY
except (Exception, SystemExit, KeyboardInterrupt) as error:
