"""Compares what a run says of its rows with the file that it sent and the log of the server.

It knows Peal's documented files alone. `judge` returns complaints; none means that all is well.
"""
import collections
import csv
import json
import re

ACCEPTED = 16
# Ledger bytes to outcomes; the numbers are fixed for ever, because run folders outlive versions.
OUTCOMES = (
    [(16, 16, "accepted"), (20, 31, "unregistered"), (32, 95, "rejected"), (96, 127, "exhausted"),
     (128, 143, "unknown"), (144, 191, "invalid"), (192, 192, "duplicate"),
     (193, 193, "suppressed"), (194, 194, "heldOut")])
OUTCOME_OF = {byte: name for low, high, name in OUTCOMES for byte in range(low, high + 1)}
# Answers that never came, as failure lines call them.
LOST_REASONS = {"Timeout", "ConnectionLost", "StreamReset"}
LOG_LINE = re.compile(
    rb'"token":"([0-9a-f]+)","status":([0-9]+)(?:,"reason":"([^"]*)")?')
EXAMPLES_MAX = 3


class Kill:
    """What an outsider saw when the sender was killed; the log may have been a moment behind."""

    def __init__(self, ledger, log_bytes):
        self.ledger, self.log_bytes = ledger, log_bytes


class Verdict:
    def __init__(self):
        self.complaints = []
        self.accepted = self.failed = self.in_doubt = self.lost = self.repeated = 0
        self.answers = 0

    def complain(self, what, rows):
        """Complains when there are such rows, and names the first of them."""
        rows = list(rows)
        if rows:
            examples = ", ".join(str(row) for row in rows[:EXAMPLES_MAX])
            self.complaints.append(f"{len(rows)} {what} (such as {examples})")


def judge(recipients, run, log_path, kills):
    verdict = Verdict()
    tokens = read_tokens(recipients)
    with open(f"{run}/ledger", "rb") as file:
        ledger = file.read(len(tokens))
    with open(f"{run}/summary.json") as file:
        summary = json.load(file)
    failures = read_failures(f"{run}/failures.ndjson", verdict)
    lost = read_lost(f"{run}/retries.ndjson", failures)
    log = Log(log_path)
    verdict.answers = log.accepted

    check_rows(verdict, tokens, ledger, failures)
    check_summary(verdict, tokens, ledger, failures, summary)
    check_prune_list(verdict, f"{run}/unregistered.csv", failures)
    check_answers(verdict, tokens, ledger, failures, log)
    check_repeats(verdict, tokens, kills, lost, log)
    for number, kill in enumerate(kills, 1):
        check_kill(verdict, number, kill, tokens, log)
    return verdict


def read_tokens(path):
    with open(path, newline="") as file:
        return [row["token"].lower() for row in csv.DictReader(file)]


def read_failures(path, verdict):
    failures, twice = {}, []
    with open(path) as file:
        for line in file:
            failure = json.loads(line)
            if failure["row"] in failures:
                twice.append(failure["row"])
            failures[failure["row"]] = failure
    verdict.complain("rows have two failure lines", twice)
    return failures


def read_lost(path, failures):
    """How many answers of each row were given up, by what the run itself noted."""
    lost = collections.Counter()
    with open(path, errors="replace") as file:
        for line in file:
            if '"status"' not in line and line.endswith("}\n"):
                retry = json.loads(line)
                if retry["reason"] in LOST_REASONS:
                    lost[retry["row"]] += 1
    for row, failure in failures.items():
        if "status" not in failure and failure.get("reason") in LOST_REASONS:
            lost[row] += 1
    return lost


class Log:
    """What the server has answered to each token, and where in the log it says so."""

    def __init__(self, path):
        self.accepted = 0
        self.accepted_at = collections.defaultdict(list)
        self.others = collections.defaultdict(list)
        place = 0
        with open(path, "rb") as file:
            for line in file:
                found = LOG_LINE.search(line)
                if found:
                    token, status = found[1].decode(), int(found[2])
                    if status == 200:
                        self.accepted += 1
                        self.accepted_at[token].append(place)
                    else:
                        reason = found[3].decode() if found[3] else None
                        self.others[token].append((status, reason))
                place += len(line)


def check_rows(verdict, tokens, ledger, failures):
    """Each row has one outcome; a failure has its line, which speaks of the right row."""
    rows = range(1, len(tokens) + 1)
    verdict.complain(
        "rows have no outcome", (row for row in rows if ledger[row - 1:row] < b"\x10"))
    verdict.complain(
        "rows failed without a line",
        (row for row in rows if ledger[row - 1] > ACCEPTED and row not in failures))
    verdict.complain(
        "rows have a failure line that is not theirs",
        (row for row, failure in failures.items()
         if not 1 <= row <= len(tokens)
         or OUTCOME_OF.get(ledger[row - 1]) != failure["outcome"]
         or failure.get("token") != tokens[row - 1] or failure["line"] != row + 1))
    verdict.accepted = ledger.count(ACCEPTED)
    verdict.failed = len(tokens) - verdict.accepted


def check_summary(verdict, tokens, ledger, failures, summary):
    outcomes = collections.Counter(OUTCOME_OF.get(byte, "none") for byte in ledger)
    reasons = collections.Counter(
        failure.get("reason") for failure in failures.values() if failure.get("reason"))
    # A reason that Peal does not know is counted as "other"; its text is in the failure line.
    known = collections.Counter()
    for reason, count in reasons.items():
        known[reason if reason in summary["reasons"] else "other"] += count

    def must_be(what, found, expected):
        if found != expected:
            verdict.complaints.append(f"summary.json: {what} is {found} and not {expected}")

    must_be("rows", summary["rows"], len(tokens))
    must_be("outcomes", {k: n for k, n in summary["outcomes"].items() if n}, dict(outcomes))
    must_be("the sum of outcomes", sum(summary["outcomes"].values()), len(tokens))
    must_be("reasons", summary["reasons"], dict(known))
    must_be("completed", summary["completed"], True)
    must_be("stoppedBecause", summary["stoppedBecause"], None)


def check_prune_list(verdict, path, failures):
    dead = {failure["token"] for failure in failures.values()
            if failure["outcome"] == "unregistered"}
    with open(path, newline="") as file:
        listed = [row["token"] for row in csv.DictReader(file)]
    if sorted(listed) != sorted(dead):
        verdict.complaints.append(
            f"unregistered.csv has {len(listed)} tokens, and failures.ndjson tells of {len(dead)}")


def check_answers(verdict, tokens, ledger, failures, log):
    """Each outcome is one that the server's log explains."""
    verdict.complain(
        "rows are called accepted, and the server never accepted them",
        (row for row, token in enumerate(tokens, 1)
         if ledger[row - 1] == ACCEPTED and not log.accepted_at[token]))
    verdict.complain(
        "rows failed with an answer that the server never gave",
        (row for row, failure in failures.items() if "status" in failure
         and (failure["status"], failure.get("reason")) not in log.others[failure["token"]]))
    verdict.complain(
        "rows failed with an outcome that this campaign cannot have",
        (row for row, failure in failures.items()
         if failure["outcome"] not in ("unregistered", "rejected", "exhausted")))
    verdict.complain(
        "rows were given up before their last attempt",
        (row for row, failure in failures.items()
         if failure["outcome"] == "exhausted" and failure["attempts"] < 3))
    strangers = set(log.accepted_at) - set(tokens)
    verdict.complain("tokens were sent that are not in the file", strangers)


def check_repeats(verdict, tokens, kills, lost, log):
    """Accepted more often than once only after a kill in doubt, or after an answer was lost."""
    in_doubt = collections.Counter()
    for kill in kills:
        for row, byte in enumerate(kill.ledger, 1):
            if byte == 1:
                in_doubt[row] += 1
    verdict.in_doubt, verdict.lost = sum(in_doubt.values()), sum(lost.values())
    too_often = []
    for row, token in enumerate(tokens, 1):
        times = len(log.accepted_at[token])
        verdict.repeated += max(0, times - 1)
        if times > 1 + in_doubt[row] + lost[row]:
            too_often.append(row)
    verdict.complain("rows were accepted again without need", too_often)


def check_kill(verdict, number, kill, tokens, log):
    """What the ledger said at a kill was true: the server had not accepted what was called neither
    accepted nor in doubt. (What was called accepted is not sent again: `check_repeats` sees it.)"""
    verdict.complain(
        f"rows were accepted and not in doubt at kill {number}",
        (row for row, byte in enumerate(kill.ledger, 1) if byte in (0, 2)
         and any(place < kill.log_bytes for place in log.accepted_at[tokens[row - 1]])))
