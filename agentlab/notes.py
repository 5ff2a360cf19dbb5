"""What the loop itself says to the model.

Each is a prompt: what happened, what was expected, what to do next. They stand in the messages as user messages with
`"origin": "loop"`, or as the text of a call that was not run.
"""

from __future__ import annotations

ASK_AGAIN = {
    "output_limit": "Your last reply was cut at the output limit. {calls}Go on from where it stopped, and be shorter.",
    "blank_reply": "Your last reply was empty. Answer the user's message, or say why you cannot.",
}
CALL_NOT_RUN = "A tool call in it was incomplete and was not run: make it again, with shorter arguments. "

NOT_RUN = "Error: not run: the limit of this run was reached."
NOT_RUN_LAST = "Error: not run: last turn. Its result could not be read any more."

TWO_TURNS_LEFT = "Two turns are left, this one included. Finish what matters most."
LAST_TURN = "This is the last turn: tools are not run any more. Answer with what you have, and say what is missing."
LAST_TURN_EXTENDABLE = (
    "This is the last turn: answer with what you have, or call {tool} if the work truly needs more. "
    "Other calls are not run."
)

TOLD_AT = 3
REPEATED = (
    "You have made the same call {count} times with the same arguments and the same result. Another one will not tell "
    "you more: use what you have, change the arguments, or answer."
)
