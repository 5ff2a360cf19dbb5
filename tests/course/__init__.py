"""The whole course through the graders: every answer whose worth is known, in `agentlab grade` and in nbgrader."""
