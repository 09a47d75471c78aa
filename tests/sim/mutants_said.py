"""Mistakes written by hand: in what becomes of messages and sessions, up to their commit."""

from tests.sim.mutants_code import Mutant, edit, edits

BY_HAND: tuple[Mutant, ...] = (
    edit(
        "a lost answer is not looked for by its write id",
        "storage.document:_Update._landed",
        ("base.stamp.made_by(self._write_id) if base and self._tried else None", "None"),
        race="answers",
    ),
    edit(
        "an unclear write counts as done",
        "storage.document:_Update._put",
        ("self._unclear = True\n        return None", "return change"),
    ),
    edit(
        "an unclear write counts as not done",
        "storage.document:_Update._given_up",
        ("if self._unclear:", "if False:"),
        race="answers",
    ),
    edit(
        "messages are not told by their ids",
        "domain.session:_receive",
        ("seen.get(draft.id) or find(head, draft.id_hash)", "seen.get(draft.id)"),
    ),
    edit(
        "the head forgets ids when it is committed",
        "domain.session:archive",
        ("live_from=plan.last + 1,", "live_from=plan.last + 1, ids=b'',"),
    ),
    edit(
        "a commit does not look whether its plan still fits",
        "domain.session:archive",
        (
            "if plan.number != head.commit_count + 1 or plan.first != head.live_from or plan.last > head.last_seq:",
            "if False:",
        ),
        race="commits",
    ),
    edit(
        "a lost commit takes what the head has now for its plan",
        "domain.session:archive",
        (
            "if plan.number != head.commit_count + 1 or plan.first != head.live_from or plan.last > head.last_seq:\n"
            "        return None",
            "plan = CommitPlan(head.commit_count + 1, head.live_from, head.last_seq, plan.by)",
        ),
    ),
    edit(
        "a commit of one life archives its successor",
        "pipeline.commit:_change",
        ("head.incarnation != incarnation or ", ""),
        race="reborn",
    ),
    edit(
        "an archive's key does not have its range",
        "storage.layout:Life.messages",
        ("_range(first, last)", "_range(0, 0)"),
    ),
    edit(
        "the heal marker comes after the head",
        "pipeline.commit:_archive",
        (
            'with answered("the table did not answer; nothing was archived, repeat the request"):\n'
            "        services.due.put(heal_marker(services, ref(head), archive))\n    ",
            "",
        ),
        (
            "return services.heads.update(head_key(ref(head)), change)",
            "done = services.heads.update(head_key(ref(head)), change)\n"
            "    with answered():\n"
            "        services.due.put(heal_marker(services, ref(head), archive))\n"
            "    return done",
        ),
        race="files",
    ),
    edit(
        "there is no heal marker",
        "pipeline.commit:_archive",
        ("services.due.put(heal_marker(services, ref(head), archive))", "pass"),
        race="files",
    ),
    edit(
        "the tail is spilled after the head",
        "pipeline.append:_spill",
        (
            "services.log.spill(head, segment)",
            "services.__dict__.setdefault('unspilled', []).append((head, segment))",
        ),
        race="spills",
    ),
    edit(
        "a segment of one life goes into its successor",
        "pipeline.append:_Batch.change",
        (
            "ready.spilled is not None and ready.spilled.incarnation == current.incarnation",
            "ready.spilled is not None",
        ),
        race="spills",
    ),
    edit(
        "a spilled segment need not be the front of the tail",
        "domain.session:spill",
        ("if segment.first != head.tail_from or segment.last > head.last_seq:", "if False:"),
        race="spills",
    ),
    edit(
        "a tool output goes where an earlier life was",
        "pipeline.append:_Batch.change",
        (
            "if self.intake.outputs and ready.outputs_in != current.incarnation:",
            "if self.intake.outputs and not ready.outputs_in:",
        ),
        race="outputs",
    ),
    edit(
        "a life that was begun and deleted begins twice",
        "pipeline.append:_living",
        ("ready.base is None or grave != ready.over", "ready.base is None"),
        race="lives",
    ),
    edit(
        "an append goes into a grave",
        "pipeline.append:_living",
        ("if head is not None and not head.buried_at:", "if head is not None:"),
        race="lives",
    ),
    edit(
        "what was queued before a deletion begins a new life",
        "pipeline.append:_Batch._refuse_what_was_deleted",
        ("if deleted and sent and", "if False and deleted and sent and"),
        race="queued",
    ),
    edit(
        "a delete has no marker",
        "pipeline.session:delete",
        ("_mark(services, ref(found.value))", "pass"),
        race="graves",
    ),
    edit(
        "a delete buries whatever lives there",
        "pipeline.session:_bury",
        (
            "if head is None or head.buried_at or head.incarnation != incarnation:",
            "if head is None or head.buried_at:",
        ),
        race="deletes",
    ),
    edit(
        "a gravestone is removed at once",
        "pipeline.session:_erase",
        (
            "erase_life(services, whose, Allowance(), done)",
            "erase_life(services, whose, Allowance(), done)\n"
            "        services.objects.delete(User(whose.account_id, whose.user_id).head(whose.session_id))",
        ),
        race="graves",
    ),
    edit(
        "the erase worker does not look whether the session lives",
        "pipeline.erase:_session",
        (
            "if found and found.value.incarnation == whose.incarnation and not found.value.buried_at:",
            "if False:",
        ),
        race="graves",
    ),
    edit(
        "an archive is completed twice",
        "domain.session:settle",
        (
            "    if settled is None:\n        return head\n",
            "",
        ),
        race="files",
    ),
    edit(
        "a session with a policy has no due marker",
        "pipeline.append:_put_marker",
        ("services.due.put(marker)", "pass"),
        race="silent",
    ),
    edits(
        "the due marker comes after the head",
        (
            "pipeline.append:_put_marker",
            "services.due.put(marker)",
            "services.__dict__.setdefault('late', []).append(marker)",
        ),
        (
            "pipeline.append:run_append",
            "list_winner(services, ready.base, done.head)",
            "with answered():\n"
            "                for each in services.__dict__.pop('late', []):\n"
            "                    services.due.put(each)\n"
            "            list_winner(services, ready.base, done.head)",
        ),
        race="silent",
    ),
    edit(
        "a marker of one life is taken for that of its successor",
        "pipeline.append:_Batch._marked",
        ("if marker is None or marker.session.incarnation != head.incarnation:", "if marker is None:"),
        race="silent",
    ),
    edit(
        "a head that is empty still names its marker",
        "domain.auto_commit:unmarked",
        ("else replace(head, mark=None)", "else head"),
        race="emptied",
    ),
    edit(
        "the sweep forgets the marker of a session that has messages again",
        "domain.auto_commit:unmarked",
        ("None if next_look(head, now, triggers) else replace", "replace"),
        race="emptied",
    ),
    edit(
        "who holds the lease need not decide again",
        "pipeline.auto_commit:_planned",
        (
            "plan_commit(services, head, wanted.keep_recent_count) if wanted else Skip(NOT_DUE)",
            "plan_commit(services, head, wanted.keep_recent_count if wanted else 0)",
        ),
        race="bursts",
    ),
    edit(
        "a lease lasts until the table has deleted it",
        "storage.lease:Leases.take",
        ('{"until": Below(int(now.timestamp() * 1000) + 1)}', '{"until": None}'),
        race="bursts",
    ),
    edit(
        "a commit that was asked for has no marker",
        "pipeline.trigger:_ask",
        ('services.due.put(Due(services.due_at(), "commit", whose, task_id=task_id))', "pass"),
        race="bursts",
    ),
    edit(
        "the sweep does not ask for silent sessions",
        "pipeline.idle:look_at_session",
        ("asked = ask(services, due.session)", "asked = None"),
        race="silent",
    ),
    edit(
        "an automatic commit is not written down",
        "pipeline.commit:_change",
        ("archived = auto_commit.committed(archived, now)", "pass"),
        race="bursts",
    ),
    edit(
        "a failure outlives the next success",
        "domain.auto_commit:committed",
        ("auto_commit_last_error=None,", ""),
        race="bursts",
    ),
)
