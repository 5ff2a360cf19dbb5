# The message is cut out of the chapter's line by hand, and what is neither Ctrl-C nor a cancellation is caught by exclusion.

# %% replace id="loop"
lines = "".join(traceback.format_exception_only(error)).splitlines()  # step 3
return "Error: " + next(line for line in lines if not line.startswith(" "))  # step 3
### BY
try:
    return f"Error: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
except Exception:
    return f"Error: {type(error).__name__}"

# %% replace id="loop"
except (Exception, SystemExit) as error:  # step 4
    observation = explain(error)
### BY
except BaseException as error:
    if not isinstance(error, (Exception, SystemExit)):
        raise
    observation = explain(error)
