package import JobModel

/// Reads `slurm:` of a manifest or of a config file.
package enum SlurmReader {
    static let coreCounts = 1...1024
    static let throttles = 1...100_000
    /// In seconds, up to a month.
    static let times = 60.0...31 * 86400
    /// In seconds. A shard that is shorter than its start on a cluster gains nothing.
    static let shardTimes = 1.0...86400
    static let graces = 1.0...3600
    /// In bytes.
    static let memories = 64_000_000...Int.max

    /// Arguments of `sbatch` that the engine gives itself, or that would make it wait or print in another way.
    package static let reserved = [
        "--array", "-a", "--output", "-o", "--error", "-e", "--open-mode", "--job-name", "-J", "--comment",
        "--parsable",
        "--wait", "-W", "--wrap", "--test-only", "--chdir", "-D", "--no-requeue", "--requeue", "--quiet", "-Q",
        "--ntasks", "-n", "--nodes", "-N", "--export", "--dependency", "-d", "--clusters", "-M",
    ]

    /// Arguments of `sbatch` that a manifest may contain: which nodes a job gets, and when. Manifests often come from
    /// others. Other options run programs (`--prolog`), read files (`--export-file`) or come from the site's own
    /// plugins.
    package static let allowed = [
        "--account", "--begin", "--bell", "--cluster-constraint", "--constraint", "--contiguous", "--core-spec",
        "--cores-per-socket", "--cpu-freq", "--deadline", "--delay-boot", "--distribution", "--exclude", "--exclusive",
        "--extra-node-info", "--gpu-bind", "--gpu-freq", "--gpus", "--gpus-per-node", "--gpus-per-task", "--gres",
        "--gres-flags", "--hint", "--hold", "--licenses", "--mail-type", "--mail-user", "--mem", "--mem-bind",
        "--mem-per-cpu", "--mem-per-gpu", "--mincpus", "--nice", "--no-kill", "--nodelist", "--oversubscribe",
        "--partition", "--prefer", "--priority", "--qos", "--reservation", "--sockets-per-node", "--spread-job",
        "--switches", "--thread-spec", "--threads-per-core", "--time", "--time-min", "--tmp", "--wckey",
    ]

    /// Options whose value is a list of nodes. A value with a slash is a file with such a list.
    private static let nodeLists = ["--exclude", "--nodelist"]

    fileprivate static let controlProblem = "it holds a control character"

    fileprivate static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
    }

    /// The origin of an argument.
    package enum ArgumentSource: Sendable {
        /// A manifest, which may come from someone else.
        case manifest
        /// The config file or the command line, which are the user's own.
        case user
    }

    /// Why an argument cannot be passed to `sbatch`. Nil if it can.
    package static func problem(ofArgument argument: String, from source: ArgumentSource) -> String? {
        guard argument.hasPrefix("-") else { return "write it in one word with its option: --constraint=fast" }
        // Without this check, the line of sbatch's script would end there, and the rest would become another line.
        guard !hasControls(argument) else { return controlProblem }
        // -a5 means the same as --array=5.
        let isShort = !argument.hasPrefix("--")
        let name = isShort ? String(argument.prefix(2)) : String(argument.prefix { $0 != "=" })
        if let given = reserved.first(where: { $0 == name }) { return "Penumbra gives \(given) itself" }
        switch source {
        case .user:
            // sbatch accepts --outpu for --output.
            guard !isShort, let given = reserved.first(where: { $0.hasPrefix(name) }) else { return nil }
            return "sbatch may take it for \(given), which Penumbra gives itself"
        case .manifest:
            if allowed.contains(name) {
                let isFile = nodeLists.contains(name) && argument.utf8.contains(PathNames.slash)
                return isFile
                    ? "sbatch would read the nodes from a file; write their names, or give the option by --slurm-arg"
                    : nil
            }
            let full = isShort ? nil : allowed.filter { $0.hasPrefix(name) }
            if let full, !full.isEmpty, name != "--" {
                return "write the option's full name: \(full.prefix(3).joined(separator: ", "))"
            }
            return
                "a manifest may ask for nodes and times alone (the page 'Slurm' of the documentation lists the options); "
                + "give others by --slurm-arg, or in your config file"
        }
    }

    /// - Parameter path: Reads a path, and makes it absolute.
    package static func wishes(
        _ path: ValueReader<String>, from source: ArgumentSource
    ) -> ValueReader<ClusterOptions> {
        ValueReader { node, name, log in
            guard var reader = MappingReader(node, of: "'\(name)'", log: log) else { return nil }
            var wishes = ClusterOptions()
            wishes.partition = reader.optional("partition", .slurmName)
            wishes.account = reader.optional("account", .slurmName)
            wishes.qos = reader.optional("qos", .slurmName)
            wishes.time = reader.optional("time", .seconds(in: times))
            wishes.memory = reader.optional("memory", .bytes(in: memories))
            wishes.coordinatorTime = reader.optional("coordinator_time", .seconds(in: times))
            wishes.coordinatorMemory = reader.optional("coordinator_memory", .bytes(in: memories))
            wishes.cpusPerTask = reader.optional("cpus_per_task", .integer(in: coreCounts))
            wishes.throttle = reader.optional("throttle", .integer(in: throttles))
            wishes.shardSeconds = reader.optional("shard_seconds", .seconds(in: shardTimes))
            wishes.grace = reader.optional("grace", .seconds(in: graces))
            wishes.folder = reader.optional("folder", path)
            wishes.arguments = reader.optional("arguments", .list(of: .sbatchArgument(from: source)))
            reader.finish(aliases: aliases)
            return wishes
        }
    }

    private static let aliases = [
        "queue": "partition", "mem": "memory", "cpus": "cpus_per_task", "cpus-per-task": "cpus_per_task",
        "cores": "cpus_per_task", "args": "arguments", "extra": "arguments", "time_limit": "time", "run_dir": "folder",
    ]
}

extension ValueReader where Value == String {
    /// A text for a script of `sbatch`, in which a line break would begin another line.
    fileprivate static var slurmName: ValueReader {
        .scalar("a text") { text, name in
            if text.isEmpty { return .failure(ValueError(.emptyText(name: name))) }
            guard !SlurmReader.hasControls(text) else {
                return .failure(ValueError(.unfitArgument(name: name, text: text, reason: SlurmReader.controlProblem)))
            }
            return .success(text)
        }
    }

    fileprivate static func sbatchArgument(from source: SlurmReader.ArgumentSource) -> ValueReader {
        .scalar("an argument of sbatch") { text, name in
            SlurmReader.problem(ofArgument: text, from: source).map {
                .failure(ValueError(.unfitArgument(name: name, text: text, reason: $0)))
            } ?? .success(text)
        }
    }
}
