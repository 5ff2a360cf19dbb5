"""The phrases by which a user's text is understood, one expression for each thing that can be asked."""

from __future__ import annotations

import re


def said(*phrases: str) -> re.Pattern[str]:
    """Match any of some phrases, at the borders of words.

    >>> bool(said("what time", "clock").search("What time is it?")), bool(said("clock").search("clockwise"))
    (True, False)
    """
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


def begins(*phrases: str) -> re.Pattern[str]:
    """Match a text that begins with any of some phrases."""
    return re.compile(rf"^(?:{'|'.join(phrases)})\b", re.IGNORECASE)


def is_all(*phrases: str) -> re.Pattern[str]:
    """Match a text that is one of some phrases and nothing else."""
    return re.compile(rf"^(?:{'|'.join(phrases)})$", re.IGNORECASE)


FILES = r"(?:files?|folders?|director(?:y|ies)|entries|names|modules)"
VERBS_OF_READING = r"read|seen?|open(?:ed)?|looked?|ask(?:ed)?|call(?:ed)?|used?|done|do|found|find"

ELAPSED = said(
    r"how long ago",
    r"how (?:long|much time|many (?:seconds|minutes|hours|days))\b.*\b"
    r"(?:since|ago|been|passed|elapsed|gone by|went by|between)",
    "elapsed",
    r"time (?:has |have |had )?(?:passed|gone by|went by)",
)
TIME = said(
    r"what(?:'s| is|s)? (?:the )?(?:current |exact |local |utc )*(?:time|date|hour)",
    r"what (?:time|day|date) is",
    r"(?:the|current) (?:time|clock|date)(?! (?:complexity|zone|module|out))",
    "today's date",
    "o'?clock",
    "which day",
    "time (?:now|please)",
)
WORDS = said("how many words", "words? ?count", r"count\b.*\bwords?", "number of words", "words are (?:there )?in")
SIZE = said(
    "how (?:long|big|large)",
    "how many (?:lines|characters|chars|bytes)",
    "(?:size|length) of",
    "line count",
    "number of (?:lines|characters)",
    "count (?:the )?lines",
)
MOST = said("(longest|largest|biggest|shortest|smallest|longer|larger|bigger|shorter|smaller|most lines|fewest lines)")
ONE_OF_MANY = said(rf"(?:which|what|find|the|what's|a) (?:\w+ ){{0,2}}(?:of the )?{FILES}")
THE_MOST = begins(
    r"(?:please )?(?:read|show|open|print|display|cat|view)\b.*\bthe (?:\w+ )?(?:\w+est|\w+er) (?:\w+ )?(?:file|one)"
)
SLOW = said(
    r"(?:took|takes?|needed|lasted|lasts?) (?:the )?(longest|shortest|most time|least time)",
    "(slowest|fastest|quickest|longest-running)",
)
COMPARE = said("compare", "differ(?:s|ence|ences|ent)?", "versus", "vs", "in common", "the same as")
CHANGED = said(
    r"(?:has|have|did|what|is|anything)\b.*\bchange[ds]?", "still the same", "different (?:now|from before|than before)"
)
RECALL = said(
    r"my (?:very )?(?:\w+ )?(?:questions?|messages?|requests?|prompts?)",
    r"what did i (?:\w+ )?(?:ask|say|want)",
    rf"(?:have|did|had) (?:you|we|i) (?:\w+ )?(?:{VERBS_OF_READING})",
    r"(?:you|we|i)(?:'ve| have| had)? (?:\w+ )?(?:read|saw|seen|opened|looked at|asked|called|used|found)",
)
REPEAT = begins(
    r"(?:please )?(?:repeat|say)\b.*\b(?:that|it|answer|reply|response|again)$",
    r"what (?:was|did) you(?:r)? (?:last |previous |first )?(?:answer|reply|response|say)",
)
DEFINES = said("(class(?:es)?|functions?|methods?|imports?|headings?|sections?)")
DEFINE_ASK = said("which", "what", "list", "name", "show", "give", "tell", "all", "how many", "find", "any")
DEFINITION = said(
    "show",
    "print",
    "read",
    "explain",
    "display",
    "what does",
    "body",
    "source",
    "code",
    "where",
    "defined",
    "definition",
)
WHERE = said(
    r"where\b.*\b(?:is|are|does)", "which (?:files?|modules?|lines?|ones?)", "how (?:many (?:times|lines|files)|often)"
)
SEARCH = said(
    "grep",
    "search",
    "find",
    "look for",
    "locate",
    "hunt",
    "scan",
    "any(?:thing|where)? (?:mention|about)",
    "mention of",
)
MENTION = said(
    "mentions?",
    "contains?",
    "includes?",
    "uses?",
    "says?",
    "has",
    "have",
    "with",
    "occurs?",
    "appears?",
    "matches",
    "matching",
    "defined?s?",
    "imports?",
    "about",
)
ONLY_FILES = said("(?:which|what|how many) (?:files?|modules?)")
REGULAR = said("grep", "regex", "regular", "pattern")
LIST = said(
    rf"(?:list|ls|show|display|enumerate|give|see|tell)\b.*\b{FILES}",
    rf"(?:what|which)\b.*\b{FILES}\b.*\b(?:here|there|in|are|exist|available|have|do)",
    r"what(?:'s| is|s) (?:here|in (?:the |this )?(?:\S+ )?(?:folder|directory|workspace))",
    rf"how many (?:\S+ ){{0,2}}{FILES}",
    rf"(?:is|are) there (?:\S+ ){{0,2}}{FILES}",
    r"list\b.*\b(?:in|of)",
)
LIST_ALONE = is_all("ls", "dir", "list")
MORE = begins(
    "(?:please )?(?:continue|go on|carry on|next|more|proceed|keep going)",
    r".*\bnext (?:page|part)",
    r".*\bpage (?:\d+|two|three)",
    r".*\bthe rest",
    r".*\b(?:missing|omitted|remaining|cut|hidden|truncated) (?:part|lines|text|middle|out|off)",
    r".*\bwhat (?:was|is|got) (?:cut|missing|omitted|left out|truncated)",
    r".*\bshow (?:me )?more",
)
PART = said(
    r"(end|ending|last (?:\w+ )?lines?|bottom|tail|start|beginning|first (?:\w+ )?lines?|top|head|middle|centre|center)"
)
LINES = said(r"lines? (\d{1,9})(?:\s?(?:-|–|to|through|and|until)\s?(\d{1,9}))?")
COUNT_FILES = said(
    rf"how many (?:\S+ )?{FILES}",
    rf"(?:is|are) there (?:any |an? |some )?(?:\S+ )?{FILES}",
    rf"(?:number|count) (?:of )?(?:the )?(?:all )?(?:\S+ )?{FILES}",
)
KIND_OF_FILES = said(rf"(\S+) {FILES}")
BELOW = said(
    "subfolders?", "subdirector(?:y|ies)", "recursive(?:ly)?", "altogether", "in total", "nested", "below", "overall"
)
NTH = begins(
    r"(?:please )?(?:read|show|open|print|display|cat|view|how (?:long|big|many lines))\b.*"
    r"\bthe (first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last) "
    r"(?:file|one|entry|item|name)(?!\S)(?! (?:line|you|we|i))"
)
SUMMARY = said(r"summar\w+", "sum up", "gist", "outline", "overview", "extract", "key points", "main points", "tl;?dr")
EXISTS = begins("(?:are|is|were|was) there", "any")
YES_NO = begins("(?:does|do|did|is|are|was|were|has|have|can you (?:tell|check|see))")
HOW_MANY = said(r"how many ((?:[\w-]+ ){1,3}?)(?:are|is|were|was|does|do|did|in)")
KEY_ALONE = is_all(r"(?:what(?:'s| is|s)?|and|what about) (?:the )?([\w.-]*\w)")
MOST_ALONE = begins("(?:and )?(?:which|what)(?: one)? (?:is|was|has)", "and (?:the|which)")
VALUE_OF = said(
    r"(?:value|setting) (?:of|for) (?:the )?(?:(?:key|field|setting|option|variable|constant) )?([\w.-]*\w)"
)
SET_TO = said(
    r"(?:what(?:'s| is|s)?|which|tell me|show(?: me)?|give me) (?:is )?(?:the )?([\w.-]*\w(?: [\w.-]*\w)?) "
    r"(?:is )?(?:set (?:to )?|configured |used )?(?:in|of|from|by)",
    r"what (?:is|are) (?:the )?([\w.-]*\w) set to",
)
WRITING = begins(
    r"(?:please |can you |could you |would you |will you |i want you to )*"
    r"(?:write|fix|edit|change|refactor|rename|delete|remove|create|implement|rewrite|correct|patch|improve|generate"
    r"|add|append|insert|replace|save|update|make|debug|move|install)"
)
FOLLOW_UP = begins("(?:and|what about|how about|same for|now|and what about|and how about|also)")
PURPOSE = said(
    r"what\b.*\b(?:for|about|do(?:es)?|say|purpose)",
    "explain",
    "describe",
    "purpose",
    "tell me about",
)
READ = said(
    "read",
    "show",
    "open",
    "print",
    "display",
    "cat",
    "view",
    "contents?",
    "look at",
    "give",
    "see",
    "load",
    "fetch",
    "dump",
    r"what(?:'s| is|s)? in",
    "inside",
    "check",
)
REVIEW = said(r"summar\w+", "sum up", "recap", "wrap up", "review")
SO_FAR = said(
    "so far",
    "conversation",
    "session",
    "we (?:did|have|talked|discussed)",
    "you (?:did|have|found)",
    "earlier",
    "everything",
    "all (?:this|that)",
    "results",
    "findings",
)
GREETING = is_all("(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|howdy)(?: there| you| all)?")
THANKS = is_all(r"(?:ok(?:ay)?|thanks?|thank you|great|good|nice|perfect|bye|goodbye|cheers|cool)\b(?: \w+){0,4}")
ABILITIES = said(
    "what (?:can|could|do) you (?:do|offer)",
    "(?:who|what) are you",
    "are you (?:an?|the|real|human)",
    "your (?:tools|abilities|capabilities|limits)",
    "which (?:tools|model)",
    "how do you work",
)
HELP = begins("help")
IT = said("it", "its", "that", "this", "them", "they", "there", "the (?:file|module|same)")
ASKS = begins("does|do|is|are|has|can|could|would|please|check|tell|what|which|how|where")
SEARCH_VERB = re.compile(
    "grep|search|find|locate|for|word|mentions?|contains?|includes?|uses?|says?|has|have|with|imports?|term|phrase|string"
    "|where|about"
)
