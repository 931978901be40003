"""When and what was measured, and what the machine was doing."""
import datetime
import os
import subprocess


def facts(root):
    """The date and the commit."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=10"], cwd=root, capture_output=True,
                            text=True).stdout.strip()
    return {"date": datetime.date.today().isoformat(), "commit": commit or "unknown"}


def busy_seconds():
    """Core seconds that the machine has computed since it was started, and those that its host took away."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
