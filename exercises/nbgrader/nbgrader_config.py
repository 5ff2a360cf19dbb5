# The settings under which nbgrader makes a release of these exercises: a student's starting text is above each
# solution, so nothing but a comment takes the solution's place.
c = get_config()  # noqa: F821
c.ClearSolutions.code_stub = {"python": "# your code here"}
