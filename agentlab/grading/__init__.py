"""Exercises that grade themselves: nbval runs a submission in a boxed kernel, and what it printed is paid for."""
