"""English function words that say little about what a text is about.

Case-folded and without apostrophes, as the analysis sees them. Kept small on purpose; names of months, modal verbs
that are also nouns ("will", "may", "can") and "us" are not in it.
"""

STOP_WORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being both but by did do does doing during
    each for from had has have having he her here hers him his how i if in into is it its just me more most my no nor
    not of off on once only or other our ours out over own same she so some such than that the their theirs them then
    there these they this those through to too under until up very was we were what when where which while who whom
    why with would could should you your yours
    dont doesnt didnt isnt arent wasnt werent cant couldnt wouldnt shouldnt havent hasnt hadnt wont
    im ive id ill youre youve hes shes weve theyre theyve thats whats
    """.split()
)
