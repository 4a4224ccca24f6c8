"""What a cluster is made of: its ports and its slurm.conf."""

import os
import pwd
import random
import socket

# Below those that the kernel gives to connections.
PORTS = range(20000, 32000)


class NoNetwork(Exception):
    pass


def require_address():
    """Slurm asks for names in a way that finds none, not even its own, where only the loopback address is there."""
    try:
        socket.getaddrinfo("localhost", None, socket.AF_INET, flags=socket.AI_ADDRCONFIG)
    except OSError:
        more = "ip addr add 10.99.0.1/32 dev lo"
        raise NoNetwork(f"Slurm needs an address beside 127.0.0.1, and there is none here: as root, {more}") from None


def reserve_ports(count, base=None):
    """Finds ports that nobody uses, one after the other, and reserves them: returns the first, and descriptors to hold.

    A port counts as reserved while somebody holds the socket of its name, in the kernel's own name space: a cluster's
    ports stay its own while a node of it is dead, and two that start at once never choose the same.
    """
    bases = [base] if base else random.sample(PORTS, 200)
    for first in bases:
        held = []
        try:
            for port in range(first, first + count):
                held.append(_hold(port))
            return first, held
        except OSError:
            for one in held:
                one.close()
    wanted = f"the ports {base} to {base + count - 1} are not all free" if base else f"no {count} free ports in a row"
    raise NoNetwork(f"{wanted}: choose others with --port-base")


def _hold(port):
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(f"\0penumbra-slurm-port-{port}")
        with socket.socket() as trial:
            # As the daemons do: connections of a cluster that has just ended do not count.
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(("", port))
    except OSError:
        name.close()
        raise
    return name


def listening():
    """The lines that make all daemons listen on the loopback address alone, where that can be had.

    They then bind to what the host's own name resolves to, whatever the nodes' addresses are. It has to be 127.0.0.1:
    with Debian's 127.0.1.1, steps of srun abort. Elsewhere they listen on all addresses; Munge's key still guards them.
    """
    try:
        addresses = {found[4][0] for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    except OSError:
        return {}
    return {"CommunicationParameters": "NoCtldInAddrAny,NoInAddrAny"} if addresses == {"127.0.0.1"} else {}


def slurm_conf(folder, nodes, cpus, first_port, changes):
    """The text of slurm.conf. `changes`: settings that replace or join those here."""
    user = pwd.getpwuid(os.geteuid()).pw_name
    settings = {
        "ClusterName": "penumbra",
        "SlurmctldHost": "localhost(127.0.0.1)",
        "SlurmctldPort": first_port,
        # All of it belongs to whoever starts it, and every job runs as that user.
        "SlurmUser": user,
        "SlurmdUser": user,
        # Below 5 seconds Slurm takes 120, and says so in its log alone. A job waits that long before it is requeued.
        "AuthInfo": f"socket={folder}/munge.socket,cred_expire=5",
        **listening(),
        "StateSaveLocation": f"{folder}/state",
        "SlurmdSpoolDir": f"{folder}/spool/%n",
        "SlurmctldPidFile": f"{folder}/run/slurmctld.pid",
        "SlurmdPidFile": f"{folder}/run/slurmd-%n.pid",
        "SlurmctldLogFile": f"{folder}/log/controller.log",
        "SlurmdLogFile": f"{folder}/log/%n.log",
        "JobCompType": "jobcomp/filetxt",
        "JobCompLoc": f"{folder}/log/ended-jobs",
        "AccountingStorageType": "accounting_storage/none",
        # No control groups, which need systemd or a machine of one's own. What they would end, the epilog does.
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        # Jobs that use more memory than they asked for are killed, if not as out of memory: that takes control groups.
        "JobAcctGatherType": "jobacct_gather/linux",
        "JobAcctGatherFrequency": "task=1",
        "JobAcctGatherParams": "OverMemoryKill",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_CPU_Memory",
        "DefMemPerCPU": 2048,
        # Nodes have what is said here, not what the machine has.
        "SlurmdParameters": "config_overrides",
        # Scheduling within a second. Any epilog makes the end of a job start the next one at once, too: without one, a
        # pass over the queue is put off to the controller's loop.
        "SchedulerType": "sched/builtin",
        "SchedulerParameters": "batch_sched_delay=0,sched_interval=1",
        "Epilog": f"{folder}/epilog",
        "PreemptType": "preempt/partition_prio",
        "PreemptMode": "REQUEUE",
        "EnforcePartLimits": "ALL",
        # A dead node is down after 9 seconds: two rounds of pings, each with its retries.
        "SlurmdTimeout": 5,
        "SlurmctldTimeout": 5,
        "MessageTimeout": 2,
        "ReturnToService": 2,
        "JobRequeue": 1,
        "KillWait": 2,
        # How long an ended job is still known, as most sites have it.
        "MinJobAge": 300,
        # Indexes of arrays are less than this: large jobs have to be split.
        "MaxArraySize": 101,
        "MaxJobCount": 5000,
        **changes,
    }
    machines = [
        f"NodeName=n{n} NodeHostname=localhost NodeAddr=127.0.0.1 Port={first_port + n} CPUs={cpus} RealMemory={cpus * 2048}"
        for n in range(1, nodes + 1)
    ]
    partitions = [
        "PartitionName=DEFAULT Nodes=ALL MaxTime=UNLIMITED State=UP PriorityTier=1 PreemptMode=OFF",
        "PartitionName=work Default=YES",
        # In minutes: Slurm knows nothing less.
        "PartitionName=short MaxTime=1",
        "PartitionName=requeue PreemptMode=REQUEUE",
        "PartitionName=cancel PreemptMode=CANCEL",
        "PartitionName=urgent PriorityTier=2",
        # Takes jobs and never starts one.
        "PartitionName=closed State=DOWN",
    ]
    lines = [f"{key}={value}" for key, value in settings.items()]
    return "\n".join([*lines, *machines, *partitions, ""])


def epilog(folder):
    """The text of a script that runs on a node as a job ends there, and kills what the job left behind.

    Slurm finds a job's programs by their parents here: one whose batch script died first would live on after its job.
    Programs that emptied their environment are found no more; they die with their node.
    """
    return f"""#!/bin/sh
with() {{ xargs --no-run-if-empty grep --files-with-matches --no-messages --null-data "$@"; }}
ls -d /proc/[0-9]*/environ | with --line-regexp "SLURM_JOB_ID=$SLURM_JOB_ID" |
    with --line-regexp "SLURMD_NODENAME=$SLURMD_NODENAME" | with --line-regexp --fixed-strings "SLURM_CONF={folder}/slurm.conf" |
    with "^SLURM_TASK_PID=" | cut -d/ -f3 | xargs --no-run-if-empty kill -KILL
exit 0
"""
