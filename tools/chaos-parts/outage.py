"""What a server that is down in mid-campaign costs: its time, and no row."""
import shutil
import tempfile
import time

import judge
import processes
from processes import Trouble

RATE = 20_000
# Reconnecting backs off to 2 s at most; the rest is for a loaded machine.
MARGIN_SECONDS = 4


def send(folder, rows, seconds_down):
    """Sends a file, with the server down in the middle. Returns seconds and complaints."""
    processes.write_campaign(folder, rows, 1)
    mock = processes.MockServer(folder, [])
    sender = processes.Sender(folder, rows, mock, ["--rate", str(RATE)])
    begin = time.monotonic()
    try:
        sender.start()
        if seconds_down > 0:
            status = sender.watch(lambda: sender.final_rows() >= rows * 2 // 5, 600)
            if status is not None:
                raise Trouble(f"the run ended too early with {status}: {sender.errors()}")
            mock.stop()  # and not `kill -9`, which would lose the last lines of its log
            status = sender.watch(lambda began=time.monotonic():
                                  time.monotonic() - began >= seconds_down, 600 + seconds_down)
            if status is not None:
                raise Trouble(f"the sender gave up with {status}: {sender.errors()}")
            mock.start()
        status = sender.watch(lambda: False, 600)
        seconds = time.monotonic() - begin
        if status != 0:
            raise Trouble(f"the sender ended with {status}: {sender.errors()}")
        mock.stop()
    finally:
        mock.kill()
        sender.kill()
    verdict = judge.judge(f"{folder}/recipients.csv", sender.run, mock.log, [])
    return seconds, verdict


def measure(rows, seconds_down):
    """True: the outage cost what it took, within the margin, and no row."""
    folders = [tempfile.mkdtemp(prefix="peal-outage-") for _ in range(2)]
    try:
        undisturbed, _ = send(folders[0], rows, 0)
        seconds, verdict = send(folders[1], rows, seconds_down)
    except Trouble as trouble:
        print(f"FAILED: {trouble}\n  folders: {' '.join(folders)}")
        return False
    cost = seconds - undisturbed
    complaints = list(verdict.complaints)
    if verdict.failed:
        complaints.append(f"{verdict.failed} rows were not accepted")
    if cost > seconds_down + MARGIN_SECONDS:
        complaints.append(f"the outage cost {cost:.1f} s")
    print(
        f"{'FAILED' if complaints else 'ok'}: {rows:,} rows in {undisturbed:.1f} s, with the server "
        f"down for {seconds_down:g} s in {seconds:.1f} s; {verdict.lost:,} answers lost, "
        f"{verdict.repeated:,} repeats, {verdict.failed} rows not accepted")
    for complaint in complaints:
        print(f"  {complaint}\n  folders: {' '.join(folders)}")
    if not complaints:
        for folder in folders:
            shutil.rmtree(folder)
    return not complaints
