# The loop catches what it has always caught.
# fails: exit

# %% replace id="loop"
except (Exception, SystemExit) as error:  # step 4
### BY
except Exception as error:
