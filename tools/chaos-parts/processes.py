"""The two programs of a trial: the local APNs, and the sender that is killed and resumed."""
import json
import os
import re
import subprocess
import time

PEAL = os.environ["PEAL_BINARY"]
# Bytes of the ledger below 16 are states of rows that have no outcome yet.
OPEN_STATES = bytes(range(16))

MANIFEST = """{
  name: "chaos", topic: "com.example.app", pushType: "alert", environment: "sandbox",
  credentials: "development", recipients: "recipients.csv",
  payload: { aps: { alert: { title: "Spring sale", body: "Hello {{first_name|friend}}" } },
             city: "{{city}}", discount: "{{discount:int}}" },
  retry: { attempts: 3, serverErrorDelay: "20ms..100ms", onUnknown: "resend" },
  timeouts: { connect: "2s", request: "500ms", drain: "1s" },
}
"""


class Trouble(Exception):
    """Something that must not happen, in a sentence."""


class MockServer:
    """`peal mock` with its log; started again on the same port and state when asked."""

    def __init__(self, folder, options):
        self.folder, self.options, self.port = folder, options, 0
        self.log = f"{folder}/requests.ndjson"
        self.start()

    def start(self):
        errors = open(f"{self.folder}/mock.err", "a+b")
        begin = errors.seek(0, os.SEEK_END)
        self.process = subprocess.Popen(
            [PEAL, "mock", "--listen", f"127.0.0.1:{self.port}", "--state", f"{self.folder}/mock",
             "--log", self.log, "--threads", "2"] + self.options,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        while True:
            errors.seek(begin)
            text = errors.read().decode()
            found = re.search(r"listening on https://127\.0\.0\.1:([0-9]+), CA (.+)\n", text)
            if found:
                break
            if self.process.poll() is not None:
                raise Trouble(f"the local APNs does not start: {text}")
            time.sleep(0.005)
        errors.close()
        self.port, self.ca = int(found[1]), found[2]
        self.url = f"https://localhost:{self.port}"

    def stats(self):
        # Its faults strike curl's connections, too.
        for _ in range(20):
            answer = subprocess.run(
                ["curl", "-sS", "-m", "5", "--http2", "--cacert", self.ca,
                 f"{self.url}/mock/stats"], capture_output=True)
            if answer.returncode == 0:
                return json.loads(answer.stdout)
            time.sleep(0.1)
        raise Trouble(f"/mock/stats: {answer.stderr.decode()}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        try:
            status = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Trouble("the local APNs does not end on SIGTERM")
        if status != 0:
            raise Trouble(f"the local APNs ended with {status}")


class Sender:
    """`peal send`; the run folder shows from outside how far it is."""

    def __init__(self, folder, rows, mock, options):
        self.folder, self.rows, self.starts = folder, rows, 0
        self.run = f"{folder}/run"
        self.command = [
            PEAL, "send", f"{folder}/campaign.json", "--pacing", "unlimited", "--quiet", "--server",
            mock.url, "--ca-file", mock.ca, "--run-dir", self.run] + options
        self.peak_kib = 0
        self.started_at = []

    @property
    def has_begun(self):
        return os.path.exists(f"{self.run}/run.json")

    def start(self):
        self.starts += 1
        self.started_at.append(time.monotonic())
        errors = open(f"{self.folder}/send-{self.starts}.err", "wb")
        self.process = subprocess.Popen(
            self.command + (["--resume"] if self.has_begun else []),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
            env=dict(os.environ, XDG_STATE_HOME=f"{self.folder}/state"))
        errors.close()

    def ledger(self):
        """The bytes of all rows; those that are not allocated yet count as untouched."""
        try:
            with open(f"{self.run}/ledger", "rb") as file:
                return file.read(self.rows).ljust(self.rows, b"\0")
        except FileNotFoundError:
            return bytes(self.rows)

    def final_rows(self):
        return len(self.ledger().translate(None, OPEN_STATES))

    def watch(self, has_come, most_seconds):
        """Waits until `has_come()` or the end. Returns the exit status, or None while it runs."""
        deadline = time.monotonic() + most_seconds
        while True:
            self.note_memory()
            status = self.process.poll()
            if status is not None or has_come():
                return status
            if time.monotonic() > deadline:
                self.kill()
                raise Trouble(f"start {self.starts} hangs: no end after {most_seconds} s")
            time.sleep(0.004)

    def kill(self):
        """`kill -9`. True: that is what ended it."""
        self.process.kill()
        return self.process.wait() == -9

    def note_memory(self):
        try:
            with open(f"/proc/{self.process.pid}/status") as file:
                found = re.search(r"RssAnon:\s+([0-9]+) kB", file.read())
        except (FileNotFoundError, ProcessLookupError):
            return
        if found:
            self.peak_kib = max(self.peak_kib, int(found[1]))

    def errors(self):
        with open(f"{self.folder}/send-{self.starts}.err", errors="replace") as file:
            return file.read().strip()


def write_campaign(folder, rows, seed):
    """A campaign folder with `rows` unique tokens."""
    with open(f"{folder}/campaign.json", "w") as file:
        file.write(MANIFEST)
    maker = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/make-recipients"
    subprocess.run(
        [maker, str(rows), "--seed", str(seed), "--output", f"{folder}/recipients.csv"], check=True)
