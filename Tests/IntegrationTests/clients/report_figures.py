"""Reads a report as Python's own HTML parser sees it, and prints a JSON object:
figures (name: sum of the values), elements (those that are open at the end, or closed wrongly),
loads (attributes by which a page fetches something), text (the words of the first paragraph of
class `lead`)."""

import html.parser
import json
import sys

VOID = {"meta", "wbr"}  # elements that have no end in HTML


class Report(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.figures, self.faults, self.loads, self.open = {}, [], [], []
        self.lead, self.in_lead = "", False

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.loads += [f"{tag} {name}" for name in values if name in
                       ("src", "href", "srcset", "action", "xlink:href", "data", "poster")]
        if tag in ("script", "link", "iframe", "object", "embed", "base"):
            self.loads.append(tag)
        if "data-figure" in values:
            name = values["data-figure"]
            self.figures[name] = self.figures.get(name, 0) + float(values["value"])
        if values.get("class") == "lead":
            self.in_lead = True
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)
        if tag == "p":
            self.in_lead = False

    def handle_data(self, data):
        if self.in_lead:
            self.lead += data


report = Report()
with open(sys.argv[1], encoding="utf-8") as file:
    report.feed(file.read())
report.close()
json.dump({"figures": report.figures, "faults": report.faults + report.open,
           "loads": report.loads, "lead": report.lead}, sys.stdout)
