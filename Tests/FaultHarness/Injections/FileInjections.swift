import Foundation
import Glibc

/// Canvases, tiles or outputs are damaged when they are written and nobody has read them: each damage has to be found.
struct DamagedFiles: Injection {
    /// Of the tasks that write them.
    let kinds: [String]
    let chance: Double
    var faults: [Fault] = [.flipFile, .truncateFile, .zeroFile]

    func inject(into stage: Stage) throws {
        // A frame is rendered again twice.
        try stage.plan(faults, chance: chance, limit: 2, kinds: kinds)
        try stage.finish(stage.start(), stage.doneCodes)
        stage.countCorruptions(mayGoUnread: false)
    }
}

/// The whole run stands still while canvases and tiles that nobody writes to are damaged.
struct DamageWhileStopped: Injection {
    func inject(into stage: Stage) throws {
        try stage.plan([], chance: 0, limit: 0)
        let run = try stage.start()
        for _ in 0..<3 where run.process.isRunning {
            pause(stage.moment(0...0.6))
            run.process.signal(SIGSTOP)
            let others = stage.processes.living.filter { $0 != run.process.processID }
            for process in others { kill(process, SIGSTOP) }
            damage(stage, others)
            for process in others { kill(process, SIGCONT) }
            run.process.signal(SIGCONT)
        }
        stage.finish(run, stage.doneCodes)
        stage.countCorruptions(mayGoUnread: true)
    }

    private func damage(_ stage: Stage, _ processes: [pid_t]) {
        let scratch = "\(stage.workspace.stateFolder)/runs"
        let beingWritten = Set(processes.flatMap(openFiles))
        let files = Folder.files(scratch).map { "\(scratch)/\($0)" }.filter { path in
            let name = path.split(separator: "/").last ?? ""
            return (name.hasPrefix("tile-") || name.hasPrefix("canvas-")) && !beingWritten.contains(path)
        }
        guard let path = files.randomElement(using: &stage.random),
            let kind = FileDamage.allCases.randomElement(using: &stage.random),
            let done = kind.strike(path, &stage.random)
        else { return }
        let book = FaultBook(folder: stage.workspace.faults)
        book.note("fault", kind.rawValue, path)
        book.note("damaged", path, done)
    }

    private func openFiles(_ process: pid_t) -> [String] {
        let folder = "/proc/\(process)/fd"
        // A process that is gone has none.
        return Folder.names(folder).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        }
    }
}

/// Pictures become others while the job runs, or vanish. In the end outputs are those of the pictures that are there.
struct ReplacedInputs: Injection {
    let isRemoved: Bool

    private enum Way: CaseIterable {
        /// Cut, then written in two parts.
        case overwrite
        /// Byte by byte over the old ones.
        case writeOver
        /// A new file takes the name.
        case rename
        /// The same, and it looks as old as the one before.
        case renameOld
    }

    func inject(into stage: Stage) throws {
        guard !isRemoved else { return try removeOne(stage) }
        let widths = Bool.random(using: &stage.random) ? 0 : 8
        var other = stage.variant.pictures
        for index in other.indices {
            other[index] = Picture(
                stem: other[index].stem, width: other[index].width + widths, height: other[index].height,
                channels: other[index].channels, form: other[index].form, number: other[index].number + 1000)
        }
        let replaced = try stage.references.reference(stage.variant.with(other), .current)
        let run = try stage.start()
        stage.allowNow(replaced.files)
        for picture in other.shuffled(using: &stage.random).prefix(Int.random(in: 1...3, using: &stage.random)) {
            pause(stage.moment(0...0.5))
            guard let way = Way.allCases.randomElement(using: &stage.random) else { continue }
            try replace(picture, way, stage)
            stage.result.faults += 1
            for (path, data) in replaced.files where path.contains(picture.stem) { stage.expected[path] = data }
        }
        stage.finish(run, [0, 1])
    }

    private func replace(_ picture: Picture, _ way: Way, _ stage: Stage) throws {
        let data = picture.file
        let path = "\(stage.workspace.path)/photos/\(picture.fileName)"
        stage.inputs[picture.fileName] = data
        switch way {
        case .overwrite:
            let file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
            defer { close(file) }
            Bytes.write(Array(data.prefix(data.count / 2)), to: file)
            pause(Double.random(in: 0...0.02, using: &stage.random))
            Bytes.write(Array(data.dropFirst(data.count / 2)), to: file)
        case .writeOver:
            let file = open(path, O_WRONLY | O_CLOEXEC)
            defer { close(file) }
            Bytes.write(Array(data), to: file)
            ftruncate(file, data.count)
        case .rename, .renameOld:
            let aside = "\(stage.workspace.path)/aside"
            try data.write(to: URL(filePath: aside))
            if way == .renameOld {
                var times = [
                    timeval(tv_sec: time(nil) - 86_400, tv_usec: 0), timeval(tv_sec: time(nil) - 86_400, tv_usec: 0),
                ]
                utimes(aside, &times)
            }
            rename(aside, path)
        }
    }

    private func removeOne(_ stage: Stage) throws {
        let run = try stage.start()
        pause(stage.moment(0...0.8))
        guard let name = stage.inputs.keys.sorted().randomElement(using: &stage.random) else { return }
        unlink("\(stage.workspace.path)/photos/\(name)")
        stage.result.faults += 1
        stage.finish(run, [0, 1])
        // Its outputs stay, if there are any.
        try stage.runCalmly([0])
        try stage.workspace.writeInputs([name: stage.inputs[name] ?? Data()])
    }
}
