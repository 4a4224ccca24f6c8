import Foundation
import Glibc

/// Outputs, state or both lie on a small file system of their own.
struct OwnDisk {
    let folder: String

    /// - Parameters:
    ///   - options: of a tmpfs.
    ///   - holdsOutputs: whether the outputs must be there.
    init(_ stage: Stage, _ options: String, holdsOutputs: Bool = false) throws {
        guard PrivateMounts.areOn else { throw Skip(reason: "needs root and a mount namespace of its own") }
        folder = Self.folder(of: stage)
        try Folder.create(folder)
        guard PrivateMounts.mount(folder, options) else { throw Skip(reason: "no tmpfs can be mounted") }
        let place = Int.random(in: 0..<3, using: &stage.random)
        if place != 1 || holdsOutputs { stage.workspace.out = "disk/out" }
        if place != 0 { stage.workspace.state = "disk/state" }
    }

    static func folder(of stage: Stage) -> String { "\(stage.workspace.path)/disk" }

    static func clearAway(_ stage: Stage) {
        let disk = folder(of: stage)
        stage.processes.killAll()
        // What was found stays to be looked at; without room for it, it does not.
        if !stage.result.violations.isEmpty { try? FileManager.default.copyItem(atPath: disk, toPath: disk + "-kept") }
        PrivateMounts.unmount(disk)
    }
}

extension Stage {
    /// A run that met trouble with its place, or was done before: what is there is whole, and the trouble has a name.
    func finishInTrouble(_ run: ProgramRun, _ words: [String], isTidy: Bool = true) {
        finish(run, doneCodes.union([74]))
        guard run.process.ending?.code == 74 else { return }
        result.faults += 1
        checkOrphans()
        if isTidy { checkLeftovers() }
        let said = run.lastWords.lowercased()
        if !words.contains(where: said.contains) {
            blame(.causes, "the place's trouble is told as: \(run.lastWords)")
        }
    }
}

/// The disk is nearly full.
struct FullDisk: StagedInjection {
    func prepare(_ stage: Stage) throws { _ = try OwnDisk(stage, "size=96m") }

    func clearAway(_ stage: Stage) { OwnDisk.clearAway(stage) }

    func inject(into stage: Stage) throws {
        let ballast = "\(OwnDisk.folder(of: stage))/ballast"
        let outputs = stage.reference.files.values.reduce(0) { $0 + $1.count }
        let most = stage.workspace.out.hasPrefix("disk") ? outputs * 2 / 3 : 1_500_000
        fill(ballast, leaving: Int.random(in: 0...most, using: &stage.random))
        stage.finishInTrouble(try stage.start(), ["space", "full"])
        unlink(ballast)
    }

    private func fill(_ path: String, leaving free: Int) {
        var status = statvfs()
        guard statvfs(path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }, &status) == 0 else { return }
        let size = max(0, Int(status.f_bavail) * Int(status.f_bsize) - free)
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        posix_fallocate(file, 0, size)
        close(file)
    }
}

/// The disk has room, and no inodes for more files.
struct NoInodes: StagedInjection {
    func prepare(_ stage: Stage) throws { _ = try OwnDisk(stage, "size=96m,nr_inodes=400") }

    func clearAway(_ stage: Stage) { OwnDisk.clearAway(stage) }

    func inject(into stage: Stage) throws {
        let ballast = "\(OwnDisk.folder(of: stage))/ballast"
        try Folder.create(ballast)
        var names: [String] = []
        while FileManager.default.createFile(atPath: "\(ballast)/\(names.count)", contents: nil) {
            names.append("\(ballast)/\(names.count)")
        }
        let free = Int.random(in: 0...25, using: &stage.random)
        for name in names.suffix(free) { unlink(name) }
        stage.finishInTrouble(try stage.start(), ["space", "full"])
        for name in names.dropLast(free) { unlink(name) }
    }
}

/// The outputs' disk becomes read-only in the middle of a run, as one with errors does.
struct ReadOnlyDisk: StagedInjection {
    func prepare(_ stage: Stage) throws { _ = try OwnDisk(stage, "size=96m", holdsOutputs: true) }

    func clearAway(_ stage: Stage) { OwnDisk.clearAway(stage) }

    func inject(into stage: Stage) throws {
        let disk = OwnDisk.folder(of: stage)
        let run = try stage.start()
        pause(stage.moment(0...0.9))
        while run.process.isRunning, !PrivateMounts.remount(disk, isReadOnly: true) {}
        // What is there cannot be removed before the disk can be written to again.
        stage.finishInTrouble(run, ["read-only"], isTidy: false)
        stage.processes.killAll()
        guard PrivateMounts.remount(disk, isReadOnly: false) else {
            throw StageProblem(description: "the disk stays read-only")
        }
    }
}

/// Only so many bytes may be written, as a quota has it.
struct Quota: Injection {
    func inject(into stage: Stage) throws {
        let file = "\(stage.workspace.path)/quota"
        let outputs = stage.reference.files.values.reduce(0) { $0 + $1.count }
        var room = Int64.random(in: 0...Int64(outputs) * 3 / 2, using: &stage.random)
        try Data(bytes: &room, count: MemoryLayout.size(ofValue: room)).write(to: URL(filePath: file))
        stage.environment["LD_PRELOAD"] = try Shims.build("place", PackageResources.place_c, in: stage.workspace)
        stage.environment["PENUMBRA_FAULTS_QUOTA"] = file
        let places = [stage.workspace.outputs, stage.workspace.stateFolder]
        let choice = Int.random(in: 0..<3, using: &stage.random)
        stage.environment["PENUMBRA_FAULTS_ROOTS"] = (choice == 2 ? places : [places[choice]]).joined(separator: ":")
        stage.finishInTrouble(try stage.start(), ["quota", "space", "full", "disk i/o error"])
    }
}

/// Whatever touches the disk takes its time.
struct SlowDisk: Injection {
    func inject(into stage: Stage) throws {
        stage.environment["LD_PRELOAD"] = try Shims.build("place", PackageResources.place_c, in: stage.workspace)
        stage.environment["PENUMBRA_FAULTS_SLOW"] = "\(Int.random(in: 5...60, using: &stage.random))"
        stage.environment["PENUMBRA_FAULTS_ROOTS"] = "\(stage.workspace.outputs):\(stage.workspace.stateFolder)"
        stage.finish(try stage.start(), stage.doneCodes)
        stage.result.faults += 1
    }
}

/// No file may grow beyond a limit.
struct SmallFiles: Injection {
    func inject(into stage: Stage) throws {
        let largest = stage.reference.files.values.map(\.count).max() ?? 0
        // dash counts blocks of 512 bytes.
        let blocks = Int.random(in: 1...max(2, largest * 5 / 4 / 512), using: &stage.random)
        let run = try stage.start(wrapper: ["/bin/sh", "-c", "ulimit -f \(blocks); exec \"$@\"", "sh"])
        stage.finish(run, stage.doneCodes.union([74]))
        guard run.process.ending?.code == 74 else { return }
        stage.result.faults += 1
        stage.checkOrphans()
        stage.checkLeftovers()
    }
}

/// The time of day jumps by days.
struct JumpingClock: Injection {
    func inject(into stage: Stage) throws {
        let shim = try Shims.build("clock", PackageResources.clock_c, in: stage.workspace)
        stage.environment["LD_PRELOAD"] = shim
        stage.environment["PENUMBRA_FAULTS_CLOCK"] = "\(stage.random.next() >> 1)"
        stage.finish(try stage.start(), stage.doneCodes)
        stage.result.faults += 1
        guard let again = stage.finish(try stage.start(), stage.doneCodes), again.published > 0 else { return }
        stage.blame(.upToDate, "\(again.published) frames were made again because the clock jumped")
    }
}
