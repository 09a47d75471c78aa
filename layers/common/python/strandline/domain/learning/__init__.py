"""Learning from experience: what a conversation says of a task, how it was done, and what is to be remembered of that.

    task        the case in a conversation: what was asked, what a good answer is, how it was judged
    steps       the tool calls that were made for it, and how each came out
    judging     how a run came out, and how much its lessons count
    run         one run of a task as an experience remembers it
    newest      what a case or an experience keeps of runs without end
    found       the tasks that a language model found in a conversation, where its metadata names none
    kinds       the kinds of task that are known, as that model is shown them
    insight     what a model is shown of a run, and what it says of it
    verdict     how a run came out as a model says, and what bears that out
    evidence    what a trajectory says of that
    experience  an experience's text: it follows from its runs, in whatever order they were learnt
    case        a case as it is proposed, and as it is stored
    anchor      whether two requests ask the same
    standing    which experiences ask the same, and which has taken the place of which
    lesson      what one conversation adds to cases, trajectories and experiences

All of it is rules: the same messages, and the same answers of a model where there is one, give the same bytes. They
need no model, and can then only tell what the log says.
"""
