"""Counts what a CSV of recipients holds, for a test of `peal check`: another program in another
language, which shares nothing with Peal. Prints a JSON object.

usage: check_counts.py FILE

The columns are token, locale and name; the payload is that of the test.
"""
import csv
import json
import re
import sys
from collections import Counter

rows = valid = repeated = 0
sizes, locales, tokens = [], Counter(), Counter()
empty = invalid = 0
largest, largest_row = -1, 0
with open(sys.argv[1], encoding="utf-8-sig", newline="") as file:
    for row, record in enumerate(csv.DictReader(file), start=1):
        rows += 1
        token = re.sub("[ <>]", "", record["token"]).lower()
        if not re.fullmatch("(?:[0-9a-f]{2}){16,256}", token):
            invalid += 1
            continue
        locales[record["locale"]] += 1
        empty += record["name"] == ""
        alert = "Hi " + (record["name"] or "friend")
        payload = json.dumps({"aps": {"alert": alert}}, ensure_ascii=False, separators=(",", ":"))
        size = len(payload.encode())
        if size > 4096:
            invalid += 1
            continue
        sizes.append(size)
        if size > largest:
            largest, largest_row = size, row
        repeated += tokens[token] > 0
        tokens[token] += 1
sizes.sort()
print(json.dumps({
    "rows": rows, "invalid": invalid, "repeated": repeated,
    "sendable": rows - invalid - repeated, "empty": empty,
    "smallest": sizes[0], "median": sizes[(len(sizes) - 1) // 2], "largest": largest,
    "largestRow": largest_row, "total": sum(sizes), "locales": locales,
    "mostRepeated": tokens.most_common(1)[0][1],
}))
