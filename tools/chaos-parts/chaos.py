"""Trials of a campaign under faults and kills; see tools/chaos."""
import argparse
import os
import random
import shutil
import sys
import tempfile
import time

import faults
import judge
import processes
from processes import Trouble

# Peak anonymous memory of the sender, whatever happens: its pools are sized at the start.
PEAK_KIB_MAX = 64 * 1024
# Far more than a start takes, on the slowest machine.
START_SECONDS_MAX = 180
# A server that does not let anybody in three times is given up with 3, which is resumable. Only
# seeds whose faults hit connections may see that, and not for ever.
GIVEN_UP_MAX = 20


class Trial:
    """One seed: its faults, its kills, its folder."""

    def __init__(self, seed, rows, kills):
        self.seed, self.rows, self.kill_count = seed, rows, kills
        self.random = random.Random(seed)
        self.faults = faults.draw(self.random)
        # In most trials the stream limit is moved by faults alone; else the local APNs moves it as
        # the real one does, down to one stream after many a refusal, which is slow.
        self.is_fast = self.random.random() < 0.7
        self.threads = self.random.choice([1, 2, 2])
        self.connections = self.random.randint(2, 8)
        self.folder = tempfile.mkdtemp(prefix=f"peal-chaos-{seed}-")
        self.kills = []
        self.given_up = 0

    def run(self):
        processes.write_campaign(self.folder, self.rows, self.seed)
        with open(f"{self.folder}/faults", "w") as file:
            file.write("\n".join(self.faults) + "\n")
        options = ["--seed", str(self.seed)] + (["--fast"] if self.is_fast else [])
        for fault in self.faults:
            options += ["--fault", fault]
        self.mock = processes.MockServer(self.folder, options)
        try:
            self.sender = processes.Sender(
                self.folder, self.rows, self.mock,
                ["--threads", str(self.threads), "--connections", str(self.connections)])
            self.send_and_kill()
            self.send_to_the_end()
            accepted = self.mock.stats()["accepted"]
            self.mock.stop()
        finally:
            self.mock.kill()
            self.sender.kill()
        verdict = judge.judge(
            f"{self.folder}/recipients.csv", self.sender.run, self.mock.log, self.kills)
        if accepted != verdict.answers:
            verdict.complaints.append(
                f"the server counts {accepted} accepted, and its log has {verdict.answers}")
        if self.sender.peak_kib > PEAK_KIB_MAX:
            verdict.complaints.append(f"the sender used {self.sender.peak_kib} KiB")
        return verdict

    def send_and_kill(self):
        # Most kills come at a share of the file and up to 20 ms later; some at once after a start.
        shares = sorted(self.random.random() for _ in range(self.kill_count))
        for share in shares:
            early = self.random.random() < 0.2
            delay = self.random.uniform(0, 0.12 if early else 0.02)
            wanted = 0 if early else int(share * self.rows)
            self.sender.start()
            status = self.sender.watch(
                lambda: early or self.sender.final_rows() >= wanted, START_SECONDS_MAX)
            if status is None:
                time.sleep(delay)
                if not self.sender.kill():
                    status = self.sender.process.returncode
            if status is not None:
                if status == 0:
                    return
                self.note_given_up(status)
            elif self.sender.has_begun:
                self.kills.append(
                    judge.Kill(self.sender.ledger(), os.path.getsize(self.mock.log)))
            else:
                # Killed before the run was there: nothing may have been sent.
                if os.path.getsize(self.mock.log):
                    raise Trouble("rows were sent before the run folder was complete")
                shutil.rmtree(self.sender.run, ignore_errors=True)

    def send_to_the_end(self):
        while True:
            self.sender.start()
            status = self.sender.watch(lambda: False, START_SECONDS_MAX)
            if status == 0:
                return
            # A run whose last kill came after its last row has nothing to resume.
            if status == 2 and self.kills and self.sender.final_rows() == self.rows:
                text = self.sender.errors()
                if "nothing to resume" in text:
                    return
            self.note_given_up(status)

    def note_given_up(self, status):
        self.given_up += 1
        hits_connections = any(
            fault.startswith(("hang-up", "connection-rate", "slow-handshake", "cut per"))
            for fault in self.faults)
        if status != 3 or not hits_connections or self.given_up > GIVEN_UP_MAX:
            raise Trouble(
                f"start {self.sender.starts} ended with {status}: {self.sender.errors()}")


def one_seed(seed, options):
    """Runs a trial; True when it passes."""
    begin = time.monotonic()
    trial = Trial(seed, options.rows, options.kills)
    try:
        verdict = trial.run()
        complaints = verdict.complaints
    except Trouble as trouble:
        verdict, complaints = None, [str(trouble)]
    seconds = time.monotonic() - begin
    if not complaints:
        given_up = f", {trial.given_up} stops" if trial.given_up else ""
        print(
            f"seed {seed}: ok, {verdict.accepted:,} accepted, {verdict.failed:,} failed; "
            f"{len(trial.kills)} kills{given_up}, {verdict.in_doubt:,} in doubt, "
            f"{verdict.lost:,} answers lost, {verdict.repeated:,} repeats; "
            f"{trial.sender.peak_kib / 1024:.1f} MiB, {seconds:.1f} s", flush=True)
        if options.keep:
            starts = ", ".join(f"{at - begin:.1f}" for at in trial.sender.started_at)
            print(f"  {trial.folder}\n  starts at {starts} s")
        else:
            shutil.rmtree(trial.folder)
        return True
    print(f"seed {seed}: FAILED after {seconds:.1f} s", flush=True)
    for complaint in complaints:
        print(f"  {complaint}")
    for fault in trial.faults:
        print(f"  --fault \"{fault}\"")
    print(f"  folder: {trial.folder}")
    print(f"  again:  tools/chaos --seed {seed} --seeds 1 --rows {options.rows} "
          f"--kills {options.kills}", flush=True)
    return False


def main():
    parser = argparse.ArgumentParser(prog="tools/chaos", allow_abbrev=False)
    parser.add_argument("--seeds", type=int, default=1, help="so many trials (default: 1)")
    parser.add_argument("--seed", type=int, help="of the first trial (default: random)")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--keep", action="store_true", help="keeps the folders of good trials")
    parser.add_argument(
        "--outage", type=float, metavar="SECONDS", help="measures what an outage costs instead")
    options = parser.parse_args()
    if options.outage is not None:
        import outage
        return 0 if outage.measure(options.rows, options.outage) else 1
    first = options.seed if options.seed is not None else random.randrange(1, 10**9)
    print(f"seeds {first} to {first + options.seeds - 1}, {options.rows:,} rows, "
          f"{options.kills} kills each", flush=True)
    failed = sum(not one_seed(first + index, options) for index in range(options.seeds))
    if options.seeds > 1 or failed:
        print(f"{options.seeds - failed} of {options.seeds} seeds passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
