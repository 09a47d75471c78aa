"""What a language model is asked about an archive, and how its answer is read. Pure: adapters carry it.

    transcript ─▶ parts ─▶ prompt (instructions, frame, schema) ─▶ the model ─▶ answer ─▶ Extraction ─▶ combine

What was said in the archive is data: it stands escaped inside a frame that it cannot close, and whatever comes back is
checked against the memory types' declarations. An answer names types, speakers and quotes; never a path.
"""
