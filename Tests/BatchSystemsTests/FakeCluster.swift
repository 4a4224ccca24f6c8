import Catalogs
import Cluster
import Foundation
import Shards
import WorkerProtocol

/// A cluster on one machine, behind the commands of a system. Its elements run in parallel as soon as they are submitted.
/// Files in its folder control it, and record what happened:
///
/// | file | |
/// |---|---|
/// | `holds` | a submission waits for a file `go` |
/// | `away` | the next submission has no answer, and is not accepted |
/// | `forgets` | the next submission has no answer, though it is accepted |
/// | `refuses` | the reason for which no submission is accepted |
/// | `full` | the user has as many jobs as he may |
/// | `idle` | nothing is started |
/// | `kills` | endless elements are lost with their node |
/// | `begun`, `tries`, `cancelled` | a submission has begun; one line for each; what was cancelled once a job was accepted |
/// | `answers-JOB` | one line for each element of the job that has a result |
struct FakeCluster: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case slurm, commands
        /// The commands of `Examples/commands/slurm`, with the same Slurm behind them.
        case examples
    }

    let programs: FakePrograms
    let kind: Kind

    var system: any BatchSystem { kind == .slurm ? programs.slurm : programs.commands }

    init(_ kind: Kind) throws {
        self.kind = kind
        programs = try FakePrograms()
        try programs.put("core.sh", Self.core)
        if kind != .commands {
            try programs.program("sbatch", Self.sbatch)
            try programs.program("squeue", Self.squeue)
            try programs.program("scancel", Self.scancel)
            try programs.program("scontrol", "echo 'MaxArraySize            = 100'")
            try programs.program("sinfo", "echo 'fast slow'")
        }
        switch kind {
        case .slurm: break
        case .examples:
            for name in ["submit", "status", "cancel", "describe"] {
                try programs.program(name, "PATH=.:$PATH exec '\(Self.examples)/\(name)' \"$@\"")
            }
        case .commands:
            try programs.program("submit", Self.submit)
            try programs.program("status", Self.status)
            try programs.program("cancel", Self.cancel)
            try programs.program("describe", "echo 'max_array 100'; echo 'queue fast'; echo 'queue slow'")
        }
    }

    private static let examples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Examples/commands/slurm").path

    /// A program in place of `penumbra`. Its elements finish every task except those of a file `/endless`, which run until
    /// their job is cancelled or lost.
    ///
    /// - Parameter answer: the result of every task.
    func makeProgram(_ answer: TaskReceipt = .compare([nil])) throws -> String {
        let (lease, number) = (424_242, 515_151)
        let end = TaskEnd(LeaseID(lease), .done(answer))
        let result = ShardResult(
            shard: Shard.ID(run: "r", epoch: 1, number: number), attempt: "a", location: "element 1_0 on n1", ends: [],
            sandbox: SandboxReport(limitsCalls: true, files: .handedOver))
        try programs.put("end.json", String(decoding: try FrameCodec.json(end), as: UTF8.self))
        try programs.put("result.json", String(decoding: try FrameCodec.json(result), as: UTF8.self))
        try programs.program(
            "penumbra",
            #"""
            . ./core.sh
            shard="$3/shards/$5.json"
            if grep -q endless "$shard"; then
                while [ -e "job-$FAKE_JOB" ] && [ ! -e kills ]; do sleep 0.05; done
                [ ! -e "job-$FAKE_JOB" ] || become "$FAKE_JOB" "$(cut -d ' ' -f 1,2 "job-$FAKE_JOB")" node
                exit 1
            fi
            ends=
            for lease in $(grep -o '"lease":{"number":[0-9]*' "$shard" | grep -o '[0-9]*$'); do
                ends="$ends,$(sed "s/\#(lease)/$lease/" end.json)"
            done
            sed -e "s/\#(number)/$5/" -e "s|\"ends\":\[\]|\"ends\":[${ends#,}]|" result.json > "$3/results/.$5"
            echo >> "answers-$FAKE_JOB"
            mv "$3/results/.$5" "$3/results/$5.1.a.json"
            """#)
        return programs.path("penumbra")
    }

    /// The running jobs with an element that has not answered. One whose elements have all answered ends by itself.
    func living() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: programs.folder.path).filter { name in
            guard name.hasPrefix("job-"), !name.hasSuffix(".new"), let job = try? programs.text(name),
                job.hasSuffix(" running\n"), let count = Int(job.split(separator: " ").dropFirst().first ?? "")
            else { return false }
            let answers = try? programs.text("answers-\(name.dropFirst("job-".count))")
            return (answers?.count ?? 0) < count
        }
    }

    /// The parts that all commands share. A job is a file `job-NUMBER` with its name, its count and its state.
    private static let core = #"""
        # Gets a script, a name and a count, and how an index reaches the script. Ends with 1 for a refusal, 73 where the user has
        # too much, 75 for no answer.
        accept() {
            echo x >> tries
            echo > begun
            if [ -e holds ]; then while [ ! -e go ]; do :; done; fi
            if [ -e refuses ]; then return 1; fi
            if [ -e full ]; then return 73; fi
            if [ -e away ]; then rm away; return 75; fi
            job=$(($(cat count 2> /dev/null || echo 6) + 1))
            echo $job > count
            echo "$2 $3 running" > "job-$job"
            echo > accepted
            [ -e idle ] || elements "$1" "$2" "$3" "$4" "$job" > /dev/null 2>&1 &
            if [ -e forgets ]; then rm forgets; return 75; fi
            echo $job
        }
        elements() {
            index=0
            while [ $index -lt "$3" ]; do
                export FAKE_JOB="$5"
                if [ "$4" = variable ]; then SLURM_ARRAY_TASK_ID=$index sh "$1"; else sh "$1" $index; fi
                index=$((index + 1))
            done
            [ ! -e "job-$5" ] || become "$5" "$2 $3" done
        }
        # Gets a job, its name with its count, and its state. One that was lost stays so.
        become() {
            if [ "$(cat "job-$1")" != "$2 running" ]; then return; fi
            echo "$2 $3" > "job-$1.new"
            mv "job-$1.new" "job-$1"
        }
        # The jobs that were asked for, as NUMBER NAME COUNT STATE. Gets 'name NAME', or 'id ID…'.
        jobs() {
            how=$1
            shift
            for file in job-*; do
                case "$file" in *.new|'job-*') continue;; esac
                read -r name count state < "$file" || continue
                for wanted in "$@"; do
                    if [ "$how $wanted" = "name $name" ] || [ "$how ${wanted%_*}" = "id ${file#job-}" ]; then
                        echo "${file#job-} $name $count $state"
                    fi
                done
            done
        }
        drop() {
            [ ! -e accepted ] || echo "$*" >> cancelled
            jobs "$@" | while read -r job name count state; do rm -f "job-$job"; done
        }

        """#

    private static let sbatch = #"""
        . ./core.sh
        for word in "$@"; do
            case "$word" in
            --job-name=*) name=${word#--job-name=};;
            --array=0-*) last=${word#--array=0-}; count=$((${last%%%*} + 1));;
            esac
        done
        # Without a script among its arguments it reads one.
        case "$word" in
        --*) word=script-$$; cat > "$word";;
        esac
        accept "$word" "$name" "$count" variable
        case $? in
        0) exit 0;;
        1) echo "sbatch: error: $(cat refuses)" >&2;;
        73) echo "sbatch: error: AssocMaxSubmitJobLimit" >&2;;
        *) echo 'sbatch: error: Unable to contact slurm controller (connect failure)' >&2;;
        esac
        exit 1
        """#

    private static let squeue = #"""
        . ./core.sh
        for word in "$@"; do
            case "$word" in
            --name=*) set -- name "${word#--name=}"; break;;
            --jobs=*) set -- id $(echo "${word#--jobs=}" | tr , ' '); break;;
            esac
        done
        jobs "$@" | while read -r job name count state; do
            index=0
            case "$state" in done) state=COMPLETED;; running) state=RUNNING;; node) state=NODE_FAIL;; esac
            while [ $index -lt $count ]; do
                echo "$job|$index|$state|0|0|n1|$name|None"
                index=$((index + 1))
            done
        done
        """#

    private static let scancel = #"""
        . ./core.sh
        case "$1" in
        --name=*) drop name "${1#--name=}";;
        *) drop id "$@";;
        esac
        """#

    private static let submit = #"""
        . ./core.sh
        accept "$1" "$2" "$3" argument
        code=$?
        [ ! -e refuses ] || cat refuses >&2
        exit $code
        """#

    private static let status = #"""
        . ./core.sh
        jobs "$@" | while read -r job name count state; do
            index=0
            while [ $index -lt $count ]; do
                echo "${job}_$index $name $state"
                index=$((index + 1))
            done
        done
        """#

    private static let cancel = ". ./core.sh\ndrop \"$@\""
}
