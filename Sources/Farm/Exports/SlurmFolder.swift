/// A folder with the scripts that submit a job to Slurm, for users who submit by hand.
package struct SlurmFolder: Sendable {
    package struct File: Hashable, Sendable {
        package let name: String
        package let text: String
    }

    /// In the order in which a person reads them.
    package let files: [File]

    /// Options for Slurm.
    package struct Requests: Hashable, Sendable {
        /// Options of sbatch for all jobs, each as one word.
        package let options: [String]
        /// The number of the array's elements that may run at once.
        package let elementsAtOnce: Int

        package init(options: [String], elementsAtOnce: Int) {
            self.options = options
            self.elementsAtOnce = elementsAtOnce
        }
    }

    /// - Parameter folder: The absolute folder of the files.
    package init(_ job: ExportedJob, folder: String, requests: Requests) throws(ExportError) {
        let scripts = SlurmScripts(job: job, folder: folder, requests: requests)
        files = [
            File(name: "README.md", text: SlurmReadMe(job: job, folder: folder).text),
            File(name: "submit.sh", text: SlurmSubmitScript(job: job, folder: folder).text),
            File(name: "prepare.sh", text: try scripts.prepare()),
            File(name: "render.sh", text: try scripts.render()),
            File(name: "finish.sh", text: try scripts.finish()),
        ]
    }
}

/// The scripts that Slurm runs. Each replaces itself by penumbra, so that Slurm's signals reach penumbra.
struct SlurmScripts {
    let job: ExportedJob
    /// The absolute folder of the scripts.
    let folder: String
    let requests: SlurmFolder.Requests

    func prepare() throws(ExportError) -> String {
        try script(
            "prepare", log: "prepare.%j",
            says:
                "Finds the inputs, reads their headers, decodes pictures that are cut into tiles, and writes the shards.",
            start: job.preparation.isEmpty ? nil : job.startFolder,
            command: command(
                ["prepare", job.manifest, "--run-dir", job.runFolder, "--shards", String(job.size.shards)]
                    + (job.configFile.map { ["--config", $0] } ?? [])
                    + job.overrides.flatMap { ["--set", $0] } + job.preparation))
    }

    func render() throws(ExportError) -> String {
        try script(
            "render", log: "render.%A_%a", options: ["--array=1-\(job.size.shards)%\(requests.elementsAtOnce)"],
            says: "Does one shard, by worker processes on all cores of the element.",
            command: command(["shard", "--run-dir", job.runFolder, "--index"]) + " \"$SLURM_ARRAY_TASK_ID\"")
    }

    func finish() throws(ExportError) -> String {
        try script(
            "finish", log: "finish.%j",
            says: "Checks what the shards have done, does what is missing, joins tiles, verifies and publishes.",
            command: command(["resume", "--run-dir", job.runFolder, "--engine", "local"]))
    }

    /// Relative to the folder in which submit.sh submits. Absolute if Slurm would read a pattern in that folder's name.
    private var logs: String { folder.contains("%") ? "\(folder.replacing("%", with: "%%"))/logs" : "logs" }

    private func command(_ arguments: [String]) -> String { ShellWord.joined([job.program] + arguments) }

    private func script(
        _ step: String, log: String, options: [String] = [], says: String, start: String? = nil, command: String
    ) throws(ExportError) -> String {
        // A requeued job continues its log.
        let own = [
            "--job-name=\(job.name)-\(step)", "--output=\(logs)/\(log).out", "--open-mode=append", "--requeue",
        ]
        var lines = ["#!/bin/sh"]
        for option in own + options + requests.options { lines.append(try SlurmDirective.line(option)) }
        lines += [
            "", "# \(says)", "", "# Workers, one on each core that Slurm gives.",
            "export PENUMBRA_WORKERS=\"${SLURM_CPUS_PER_TASK:-\(job.size.cores)}\"",
        ]
        if let start { lines.append("cd \(ShellWord.quoted(start)) || exit 66") }
        lines.append("exec \(command)")
        return lines.map { $0 + "\n" }.joined()
    }
}

/// The script that a person starts.
struct SlurmSubmitScript {
    let job: ExportedJob
    let folder: String

    var text: String {
        """
        #!/bin/sh
        # Submits the job \(job.name) to Slurm: prepare.sh, then render.sh as an array, then finish.sh. README.md says more.
        # Each begins when the one before has ended, well or not: finish.sh does what the others have left undone.
        set -eu
        command -v sbatch > /dev/null || {
            echo "submit.sh: there is no sbatch in PATH; submit on a node that has Slurm's commands, or load their module" >&2
            exit 69
        }
        cd \(ShellWord.quoted(folder))
        mkdir -p logs

        # An array's numbers have to be below the site's MaxArraySize.
        shards=\(job.size.shards)
        largest=$(scontrol show config | sed -n 's/^MaxArraySize *= *//p')
        if [ "$shards" -ge "${largest:-1001}" ]; then
            echo "submit.sh: render.sh has $shards elements, and an array has at most $((${largest:-1001} - 1)) here;" \\
                "export the job again with --shards $((${largest:-1001} - 1))" >&2
            exit 69
        fi

        # Twice at once would be twice the work.
        if ! mkdir submitting; then
            echo "submit.sh: another submit.sh is running, or was killed; if it was killed: rm -r $PWD/submitting" >&2
            exit 75
        fi
        # Where a submission fails, those before it are taken back.
        submitted=
        leave() {
            code=$?
            [ -z "$submitted" ] || scancel $submitted || :
            rm -rf submitting
            exit "$code"
        }
        trap leave EXIT
        trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
        if [ -f submitted ]; then
            before=$(cat submitted)
            if left=$(squeue --noheader --format=%A --name=\(names) --jobs="$(echo "$before" | tr ' ' ,)" \
                2> submitting/errors)
            then
                left=$(echo "$left" | sort -u | xargs)
                if [ -n "$left" ]; then
                    echo "submit.sh: jobs $left have not ended; wait for them, or cancel them: scancel $left" >&2
                    exit 75
                fi
            elif ! grep -q "Invalid job id" submitting/errors; then
                echo "submit.sh: whether jobs $before have ended is not known: $(cat submitting/errors)" >&2
                exit 69
            fi
        fi

        # With several clusters, sbatch prints the number and the cluster.
        prepare=$(sbatch --parsable --chdir="$PWD" prepare.sh)
        prepare=${prepare%%;*}
        submitted=$prepare
        render=$(sbatch --parsable --chdir="$PWD" --dependency="afterany:$prepare" render.sh)
        render=${render%%;*}
        submitted="$submitted $render"
        finish=$(sbatch --parsable --chdir="$PWD" --dependency="afterany:$render" finish.sh)
        finish=${finish%%;*}

        echo "$prepare $render $finish" > submitted
        submitted=
        echo "submitted: prepare $prepare, render $render with $shards elements, finish $finish"
        echo "to follow: squeue --job $prepare,$render,$finish"
        echo "to cancel: scancel $prepare $render $finish"

        """
    }

    /// A controller that lost its state reuses numbers.
    private var names: String { ShellWord.quoted(job.slurmNames) }
}

extension ExportedJob {
    /// The jobs' names in the form of Slurm's commands.
    var slurmNames: String { ["prepare", "render", "finish"].map { "\(name)-\($0)" }.joined(separator: ",") }
}

/// A line of a script with an option for sbatch.
enum SlurmDirective {
    /// Outside of quotes, sbatch splits a line at blanks and takes `#` for a comment. Within quotes, a backslash
    /// escapes the next character.
    /// (Slurm 22.05. Outside of quotes a backslash does not protect a blank.)
    static func line(_ option: String) throws(ExportError) -> String {
        guard !option.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .brokenRequest(option)
        }
        guard !option.unicodeScalars.allSatisfy(plain.contains) else { return "#SBATCH \(option)" }
        let escaped = option.replacing(#"\"#, with: #"\\"#).replacing("\"", with: #"\""#)
        return "#SBATCH \"\(escaped)\""
    }

    private static let plain = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@=%*[]()&|!<>{}~^?".unicodeScalars)
}

/// The folder's README file.
struct SlurmReadMe {
    let job: ExportedJob
    let folder: String

    var text: String {
        """
        # \(job.name), for Slurm

        Made by `penumbra export --to slurm`. Read the scripts, change their `#SBATCH` lines if you like, and then:

            sh \(ShellWord.quoted("\(folder)/submit.sh"))

        | script | what it does |
        |---|---|
        | submit.sh | gives the others to `sbatch`, each to begin when the one before has ended, and prints their numbers |
        | prepare.sh | finds the inputs, reads their headers, decodes pictures that are cut into tiles, writes \(job.size.shards) shards |
        | render.sh | an array: each element does one shard, with a worker process on each of its cores |
        | finish.sh | checks what the shards have done, does what is missing, joins tiles, verifies and publishes |

        All machines have to see, under the same paths: this folder, `\(job.program)`,
        the manifest `\(job.manifest)`, its inputs and outputs,
        and what the steps share, `\(job.runFolder)`.

        ## To follow it

            \(queue)
            \(penumbra("status"))
            \(penumbra("logs"))

        `submitted` has the numbers of the jobs that were submitted last. What the scripts print is in `logs`. The end of `logs/finish.*.out` says what became of the job, and the finish job's exit
        code is that of `penumbra run`: 0 when all is done.

        ## To cancel it

            scancel $(\(queue) --noheader --format=%A | sort -u)

        What was published stays. What the steps share stays, too, for the next try.

        ## To try again

            sh \(ShellWord.quoted("\(folder)/submit.sh"))

        continues where the last try ended: shards that are done are not done again. If little is left, this alone is enough:

            cd \(ShellWord.quoted(folder)) && sbatch finish.sh

        """
    }

    /// Names are compared, too, because a controller that lost its state reuses numbers.
    private var queue: String { "squeue --name=\(names) --jobs=\"$(tr ' ' , < \(submitted))\"" }

    private var names: String { ShellWord.quoted(job.slurmNames) }

    /// The file with the jobs' numbers, which submit.sh writes.
    private var submitted: String { ShellWord.quoted("\(folder)/submitted") }

    private func penumbra(_ command: String) -> String {
        ShellWord.joined([job.program, command, "--run-dir", job.runFolder])
    }
}
