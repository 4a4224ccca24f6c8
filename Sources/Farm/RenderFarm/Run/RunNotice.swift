package import Catalogs
package import Coordination
import Glibc
package import JobModel
package import Planning
import Reports
package import Scheduling

/// News about a request that a person may want to know, beside the results of frames. ``text(from:)`` has its text.
package enum RunNotice: Hashable, Sendable {
    /// Something was not done. The rest of the request goes on.
    case failed(FarmError)
    case pluginUnusable(String)
    /// Parts of the sandbox are missing on this system.
    case sandboxIncomplete([String])
    /// `--delete-orphans` has no effect on a run of some frames. These options chose them.
    case orphansStay(because: String)
    /// A probable mistake in a manifest.
    case manifestHint(manifest: String, String)
    /// It is unknown which jobs are left in a cluster's queue.
    case clusterUnclear(String)
    case watch(WatchNotice)
    case job(String, JobNotice)
}

package enum WatchNotice: Hashable, Sendable {
    /// The watch of these folders begins.
    case began([String])
    case manifestChanged
    case manifestUnusable
    /// Instead the folder is searched at this interval, in seconds.
    case folderUnwatchable(String, rescan: Int64)
    case folderMissing(String)
    /// The path has never existed since the watch began. It may be meant for a file.
    case nothingThere(String)
    case appeared(String, isFile: Bool, isFirst: Bool)
}

/// A notice of one job.
package enum JobNotice: Hashable, Sendable {
    case failed(String)
    case stopped(StopReason, left: Int)

    // MARK: Before the run
    case ledgerDistrusted(String)
    /// The disk of these pictures is missing.
    case picturesLost(String)
    case interruptedRunUnusable(run: String, reason: String)
    case danglingLinks([String])
    /// A run that makes everything again continues. An earlier part of it made this many frames.
    case forcedRunContinues(made: Int)

    // MARK: Outputs
    /// The number of the outputs that an upgrade does not change.
    case outputsKeepOldPixels(Int, RecipeUpgrade)
    case receiptsWritten(Int)
    case receiptsBlocked([String])
    case receiptsRefused([String], reason: String)
    case receiptsImpossible(Int)
    case unselectedOutputs([String])
    /// The disk of these outputs' pictures is missing.
    case lostOutputs([String], cause: String, areToBeRemoved: Bool)
    /// `needsAll`: they are more than `--delete-orphans` removes without `=all`.
    case orphans([String], needsAll: Bool = false)
    case orphansRemoved([String])
    /// Outputs of pictures that failed, which `on_failure: remove` asks for.
    case failedOutputsRemoved([String])
    case failedOutputsKept([FileReason])
    case failedOutputsTooMany(Int, of: Int)
    case orphansKept([FileReason], isRemoving: Bool)
    /// A pattern matches nothing, so the orphans may be a mistake.
    case orphansSuspicious(Int, pattern: String)
    /// The orphans are more than a user is likely to mean.
    case orphansTooMany(Int, of: Int)

    // MARK: Adoption
    case adopted(Int, missing: Int)
    case notAdopted([FileReason])
    case takenOver(Int, stale: Int)
    case notTakenOver([FileReason])

    // MARK: Runs that others continue
    case cluster(String)
    case clusterRefuses(String)
    case handedToCluster(left: Int, run: String, folder: String)
    case shardsWritten(Int, left: Int, folder: String)
    case noShardsWritten
    case continuedByJob(left: Int)
    case continuedByNobody(left: Int, folder: String)
    /// A run of some frames has taken the place of an interrupted run of all.
    case replacesWholeRun(manifest: String)
}

extension RunNotice {
    /// The text of a notice.
    package struct Text: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// A result. Nobody has to act on it.
            case result
            /// A person should know it once.
            case remark
            /// An option or a plugin has no effect.
            case warning
            /// A warning about this manifest.
            case manifestWarning(String)
            /// Files that have something in common. Nobody has to act on them.
            case files
            /// Files that were removed. With `--quiet`, their number is reported.
            case removedFiles
            /// Files on which somebody has to act.
            case problemFiles
            /// A part of the request was not done.
            case error
        }

        package let kind: Kind
        package var message: String
        package let paths: [String]
        /// A reason for each path; nil if the message gives the reason.
        package let reasons: [String]?
        /// The command that lists all of the paths, for a listener that shows only some; nil if there is none.
        package let all: String?
        /// The place in a manifest that explains an error, with the parts of the message.
        package let place: FarmError.Place?

        package init(
            _ kind: Kind, _ message: String, paths: [String] = [], reasons: [String]? = nil, all: String? = nil,
            place: FarmError.Place? = nil
        ) {
            self.place = place
            self.all = all
            self.kind = kind
            self.message = message
            self.paths = paths
            self.reasons = reasons
        }

        fileprivate init(_ kind: Kind, _ message: String, _ files: [FileReason], all: String? = nil) {
            self.init(kind, message, paths: files.map(\.path), reasons: files.map(\.reason), all: all)
        }
    }

    /// - Parameter folder: the message shows paths as they are seen from this folder.
    package func text(from folder: String) -> Text {
        switch self {
        case .failed(let error): return Text(.error, error.message, place: error.place)
        case .pluginUnusable(let problem): return Text(.warning, VisibleText.line(problem))
        case .sandboxIncomplete(let reasons):
            return Text(
                .remark,
                "workers are only partly confined: \(VisibleText.line(reasons.joined(separator: ", and "))); see 'penumbra doctor'"
            )
        case .orphansStay(let options):
            return Text(
                .warning,
                "--delete-orphans does nothing together with \(options): a run of some frames knows of no outputs whose inputs "
                    + "are gone")
        case .manifestHint(let manifest, let message): return Text(.manifestWarning(manifest), message)
        case .clusterUnclear(let message): return Text(.remark, message)
        case .watch(let notice): return notice.text(from: folder)
        case .job(let job, let notice):
            var text = notice.text(from: folder)
            text.message = "\(job): \(text.message)"
            return text
        }
    }
}

extension RunNotice {
    /// The message of an error, without the job's name. It shows absolute paths. Nil for other notices.
    var errorMessage: String? {
        let text =
            switch self {
            case .job(_, let notice): notice.text(from: "/")
            default: text(from: "/")
            }
        return text.kind == .error ? text.message : nil
    }
}

extension WatchNotice {
    fileprivate func text(from folder: String) -> RunNotice.Text {
        func shown(_ path: String) -> String { PathText.shown(path, from: folder) }
        switch self {
        case .began(let folders):
            let places = folders.count == 1 ? shown(folders[0]) : Figures.plural(folders.count, "folder")
            return RunNotice.Text(.result, "watching \(places); Ctrl-C ends the watch")
        case .manifestChanged:
            return RunNotice.Text(.result, "the manifest has changed; its jobs are watched as it says now")
        case .manifestUnusable:
            return RunNotice.Text(
                .remark, "the manifest has changed and cannot be used; its jobs are watched as it said before")
        case .folderUnwatchable(let path, let rescan):
            return RunNotice.Text(
                .remark,
                "\(shown(path)): cannot be watched as a whole (see fs.inotify.max_user_watches); it is searched every "
                    + "\(rescan) s")
        case .folderMissing(let path):
            return RunNotice.Text(
                .remark,
                "\(shown(path)): the folder is gone, or its disk is not mounted; nothing in it is rendered until it is there again"
            )
        case .nothingThere(let path):
            return RunNotice.Text(
                .remark,
                "\(shown(path)): no such file or folder, or its disk is not mounted; nothing of it is rendered until it is there"
            )
        case .appeared(let path, let isFile, let isFirst):
            return RunNotice.Text(
                .remark, "\(shown(path)): the \(isFile ? "file" : "folder") is there\(isFirst ? "" : " again")")
        }
    }
}

extension JobNotice {
    private static let plan = "'penumbra plan --json'"

    /// The text without the job's name.
    fileprivate func text(from folder: String) -> RunNotice.Text {
        typealias Text = RunNotice.Text
        func outputs(_ count: Int) -> String { Figures.plural(count, "output") }
        func frames(_ count: Int) -> String { Figures.plural(count, "frame") }
        switch self {
        case .failed(let message): return Text(.error, message)
        case .stopped(let reason, let left): return Text(.error, reason.message(left: left))
        case .ledgerDistrusted(let message): return Text(.remark, message)
        case .picturesLost(let message):
            return Text(
                .remark, "\(message); the other pictures are rendered, and no output of these is removed")
        case .interruptedRunUnusable(let run, let reason):
            return Text(.remark, "the interrupted run \(run) cannot be resumed: \(reason)")
        case .danglingLinks(let links):
            return Text(
                .problemFiles,
                "\(Figures.plural(links.count, "link")) \(links.count == 1 ? "leads" : "lead") nowhere: the target is gone, "
                    + "or not mounted", paths: links)
        case .forcedRunContinues(let made):
            return Text(
                .result,
                "continues where the deadline stopped it: \(frames(made)) \(made == 1 ? "is" : "are") rendered again already"
            )
        case .outputsKeepOldPixels(let count, let upgrade):
            let cause = upgrade.plugin.map { "the plugin '\($0)'" } ?? "Penumbra"
            let kept = count == 1 ? "1 output keeps its old pixels" : "\(outputs(count)) keep their old pixels"
            return Text(
                .remark,
                "this version of \(cause) changes \(upgrade.pixels); \(kept), and 'upgrade: rerender' in the manifest makes "
                    + "\(count == 1 ? "it" : "them") anew")
        case .receiptsWritten(let count):
            return Text(
                .result, "\(Figures.plural(count, "receipt")) written of outputs that were published before")
        case .receiptsBlocked(let paths):
            return Text(
                .files, "\(outputs(paths.count)) without a receipt: another file is in its place, and stays",
                paths: paths)
        case .receiptsRefused(let paths, let reason):
            return Text(.files, "\(outputs(paths.count)) without a receipt: \(reason)", paths: paths)
        case .receiptsImpossible(let count):
            return Text(
                .remark,
                "\(outputs(count)) without a receipt: too little was remembered when they were published; --force makes them "
                    + "anew")
        case .unselectedOutputs(let paths):
            return Text(
                .files,
                "\(outputs(paths.count)) of pictures that are no inputs of this job any more, and never removed by it",
                paths: paths, all: Self.plan)
        case .lostOutputs(let paths, let cause, let areToBeRemoved):
            let message =
                "\(outputs(paths.count)) \(paths.count == 1 ? "stays" : "stay"), because \(cause); if the pictures were removed "
                + "or moved on purpose, say so with --allow-gone"
            return areToBeRemoved ? Text(.error, message) : Text(.files, message, paths: paths, all: Self.plan)
        case .orphans(let paths, let needsAll):
            return Text(
                .files,
                "\(outputs(paths.count)) without an input any more; --delete-orphans\(needsAll ? "=all" : "") removes them",
                paths: paths, all: Self.plan)
        case .orphansRemoved(let paths):
            return Text(.removedFiles, "removed \(outputs(paths.count)) whose inputs are gone", paths: paths)
        case .failedOutputsRemoved(let paths):
            return Text(.removedFiles, "removed \(outputs(paths.count)) of pictures that failed", paths: paths)
        case .failedOutputsKept(let files):
            return Text(
                .problemFiles,
                "\(outputs(files.count)) of pictures that failed \(files.count == 1 ? "stays as it is" : "stay as they are")",
                files)
        case .failedOutputsTooMany(let count, let all):
            return Text(
                .error,
                "\(Figures.count(count)) of \(outputs(all)) belong to pictures that failed, over "
                    + "\(OrphanRemoval.mostPercent) %, and stay; look at the failures, and remove the outputs yourself")
        case .orphansKept(let files, let isRemoving):
            let words =
                !isRemoving
                ? "without an input any more, which you have to remove yourself"
                : "without an input \(files.count == 1 ? "stays as it is" : "stay as they are")"
            return Text(.problemFiles, "\(outputs(files.count)) \(words)", files, all: Self.plan)
        case .orphansSuspicious(let count, let pattern):
            return Text(
                .error,
                "nothing matches '\(PathText.shown(pattern, from: folder))', so that \(outputs(count)) without an input stay; if "
                    + "the pictures were removed on purpose, --delete-orphans=all removes their outputs")
        case .orphansTooMany(let count, let all):
            return Text(
                .error,
                "\(Figures.count(count)) of \(outputs(all)) have no input any more, over \(OrphanRemoval.mostPercent) %, and "
                    + "stay; --delete-orphans=all removes them nevertheless")
        case .adopted(let count, let missing):
            let rest =
                missing == 0 ? "" : ", \(Figures.count(missing)) with missing outputs, which the next run renders"
            return Text(.result, "\(frames(count)) adopted\(rest)")
        case .notAdopted(let files):
            return Text(
                .problemFiles, "not adopted because of \(Figures.plural(files.count, "file"))", files)
        case .takenOver(let count, let stale):
            let rest =
                stale == 0
                ? "" : "; \(frames(stale)) \(stale == 1 ? "is" : "are") out of date, and rendered by the next run"
            return Text(.result, "\(outputs(count)) taken over\(rest)")
        case .notTakenOver(let files): return Text(.problemFiles, "not taken over", files)
        case .cluster(let message): return Text(.remark, message)
        case .clusterRefuses(let reason): return Text(.error, "Slurm does not continue the run: \(reason)")
        case .handedToCluster(let left, let run, let folder):
            return Text(
                .result,
                "\(frames(left)) handed to Slurm; run \(run), in \(folder)\n"
                    + "   = 'penumbra status', 'wait' and 'cancel' take it by --run-dir, from any node")
        case .shardsWritten(let shards, let left, let folder):
            return Text(.result, "\(frames(left)) in \(Figures.plural(shards, "shard")) at \(folder)")
        case .noShardsWritten: return Text(.result, "no shards were written: nothing is left for them")
        case .continuedByJob(let left):
            return Text(.result, "\(frames(left)) left for a job in Slurm's queue")
        case .continuedByNobody(let left, let folder):
            return Text(
                .result,
                "\(frames(left)) left, and nothing continues the run\n   = 'penumbra resume --run-dir \(folder)' does")
        case .replacesWholeRun(let manifest):
            return Text(
                .warning,
                "this run of some frames takes the place of an interrupted run of all\n   = 'penumbra run \(PathText.shown(manifest, from: folder))' "
                    + "does the rest")
        }
    }
}

extension RunListener {
    func report(_ notice: RunNotice) { receive(.notice(notice)) }

    /// Reports a notice of a job.
    func report(_ job: String, _ notice: JobNotice) { receive(.notice(.job(job, notice))) }

    /// Reports which plugins cannot be used, because a job may need one of them, and what is missing of the sandbox.
    package func warn(of catalog: Catalog) {
        if !catalog.sandbox.missing.isEmpty { report(.sandboxIncomplete(catalog.sandbox.missing)) }
        for problem in catalog.pluginProblems { report(.pluginUnusable(problem)) }
    }
}

extension RunSummary {
    /// Faults of workers that a person should know of, even if all frames are done. They are stored with the run.
    package var notes: [String] {
        let retired = retired.map { "worker slot \($0.slot.number) was retired: \($0.faults)" }
        guard flagged > 0 else { return retired }
        let results = flagged == 1 ? "1 result" : "\(Figures.count(flagged)) results"
        return retired + [
            "\(results) came faster than any machine can be; the frames were rendered again and compared"
        ]
    }

    /// Why the run stopped early, in one line; nil if it did not.
    package var stopMessage: String? { stop?.message(left: counts.left) }
}

extension Retirement {
    fileprivate var faults: String {
        let failed = "failed on \(Figures.plural(pictures, "picture")) that other slots rendered"
        let idle = "ended \(idleDeaths == 1 ? "once" : "\(idleDeaths) times") while idle"
        let faults = idleDeaths == 0 ? failed : pictures == 0 ? idle : "\(failed) and \(idle)"
        return "its workers \(faults), and had no success between"
    }
}

extension StopReason {
    package static func name(ofSignal signal: Int32) -> String {
        [SIGINT: "Ctrl-C", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP"][signal] ?? "signal \(signal)"
    }

    /// Why a run stopped early, in one line. Databases and `ended/` store it with the run.
    ///
    /// - Parameter left: how many frames are left.
    package func message(left: Int = 0) -> String {
        switch self {
        case .interrupted(let signal):
            return "stopped by \(Self.name(ofSignal: signal)); finished outputs are in place, nothing is half-written"
        case .cancelled:
            return "cancelled by 'penumbra cancel'; finished outputs are in place, nothing is half-written"
        case .detached: return "\(Figures.plural(left, "frame")) handed over"
        case .superseded:
            return "another coordinator has taken this run over; nothing was undone"
        case .storage(let message):
            let message = VisibleText.message(message)
            // Some messages have a line of their own that says what to do.
            guard !message.contains("\n   = ") else { return message }
            return "\(message); free some space or choose another place, then run it again"
        case .deadline:
            return "the deadline is reached; \(Figures.plural(left, "frame")) left for the next run"
        case .failures(let count, let limit):
            return "stopped after \(Figures.plural(count, "failure")): 'max_failures' allows fewer than "
                + "\(Figures.count(limit)); \(Figures.plural(left, "frame")) left"
        case .pluginFault(let plugin, let pictures):
            return
                "the plugin '\(PathText.visible(plugin))' faulted on \(pictures) pictures; remove or fix it, then run the job again"
        case .lastSlot(let retirement):
            return
                "the last worker slot that is left fails: \(retirement.faults); \(Figures.plural(left, "frame")) left; "
                + "'penumbra doctor' looks for the reason, 'penumbra logs' shows what the workers wrote"
        case .cluster(let message), .resourceLimit(let message):
            let message = VisibleText.message(message)
            let left = "\(Figures.plural(left, "frame")) left"
            guard let remedy = message.firstRange(of: "\n   = ") else {
                return "\(message); \(left) for the next run"
            }
            return "\(message[..<remedy.lowerBound]); \(left)\(message[remedy.lowerBound...])"
        case .engine(let message):
            // Some messages have a line of their own that says what to do.
            guard !message.contains("\n   = ") else { return "no worker can be started: \(message)" }
            return "no worker can be started: \(message); 'penumbra doctor' looks for the reason"
        }
    }
}

extension RunListener {
    /// Reports patterns that match nothing, and links that lead nowhere. (If no pattern matches anything, that is
    /// an error.)
    ///
    /// - Parameters:
    ///   - folder: messages show paths as they are seen from this folder.
    ///   - more: other probable mistakes.
    package func hint(_ plan: JobPlan, folder: String, more: [String] = []) {
        let manifest = PathText.shown(plan.job.manifestPath, from: folder)
        for message in PlanHints.messages(plan, folder) + more {
            report(.manifestHint(manifest: manifest, message))
        }
    }

    /// Reports that a run which makes everything again continues an earlier part.
    package func reportMadeBefore(_ prepared: PreparedJob) {
        let count = prepared.madeBefore
        if count > 0 { report(prepared.job.name, .forcedRunContinues(made: count)) }
    }
}

private enum PlanHints {
    /// The most links that are reported one by one.
    private static let linksReported = 5

    static func messages(_ plan: JobPlan, _ folder: String) -> [String] {
        let rest = plan.danglingLinks.count - linksReported
        func message(_ words: String, _ hint: PatternHint?) -> String {
            words + (hint.map { "; \($0.message)" } ?? "")
        }
        var hints = plan.unmatchedPatterns.map {
            message("nothing matches '\(PathText.shown($0, from: folder))' of 'inputs'", plan.hint(ofInput: $0))
        }
        hints += plan.unmatchedExcludes.map {
            message("'\(PathText.visible($0))' of 'exclude' leaves nothing out", plan.hint(ofExclude: $0))
        }
        hints += plan.unmatchedChoices.map {
            message("nothing matches '\(PathText.visible($0))' of --only", plan.hint(ofChoice: $0))
        }
        hints += plan.danglingLinks.prefix(linksReported).map {
            "\(PathText.shown($0, from: folder)) is a link that leads nowhere, and is no input: its target is gone, or not "
                + "mounted"
        }
        return hints + (rest > 0 ? ["\(Figures.count(rest)) more links lead nowhere"] : [])
    }
}
