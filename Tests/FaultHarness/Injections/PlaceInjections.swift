import Foundation
import Glibc

/// Outputs, state or both lie on a small file system of their own that is nearly full.
struct FullDisk: StagedInjection {
    private static let megabytes = 96

    func prepare(_ stage: Stage) throws {
        guard PrivateMounts.areOn else { throw Skip(reason: "needs root and a mount namespace of its own") }
        let disk = "\(stage.workspace.path)/disk"
        try Folder.create(disk)
        guard PrivateMounts.mount(disk, megabytes: Self.megabytes) else {
            throw Skip(reason: "no tmpfs can be mounted")
        }
        let place = Int.random(in: 0..<3, using: &stage.random)
        if place != 1 { stage.workspace.out = "disk/out" }
        if place != 0 { stage.workspace.state = "disk/state" }
    }

    func clearAway(_ stage: Stage) {
        let disk = "\(stage.workspace.path)/disk"
        stage.processes.killAll()
        // What was found stays to be looked at; without room for it, it does not.
        if !stage.result.violations.isEmpty { try? FileManager.default.copyItem(atPath: disk, toPath: disk + "-kept") }
        PrivateMounts.unmount(disk)
    }

    func inject(into stage: Stage) throws {
        let ballast = "\(stage.workspace.path)/disk/ballast"
        let outputs = stage.reference.files.values.reduce(0) { $0 + $1.count }
        let most = stage.workspace.out.hasPrefix("disk") ? outputs * 2 / 3 : 1_500_000
        fill(ballast, leaving: Int.random(in: 0...most, using: &stage.random))
        let run = try stage.start()
        stage.finish(run, stage.doneCodes.union([74]))
        if run.process.ending?.code == 74 {
            stage.result.faults += 1
            stage.checkOrphans()
            stage.checkLeftovers()
            if !run.lastWords.lowercased().contains("space") && !run.lastWords.contains("full") {
                stage.blame(.causes, "a full disk is told as: \(run.lastWords)")
            }
        }
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

/// File systems that only this process and those that it starts can see.
enum PrivateMounts {
    private static let variable = "PENUMBRA_FAULTS_MOUNTS"

    static var areOn: Bool { getenv(variable) != nil }

    /// Starts this program again in a mount namespace of its own, where that is allowed; else returns.
    static func enter() {
        guard !areOn, geteuid() == 0, access("/usr/bin/unshare", X_OK) == 0 else { return }
        guard succeeds("/usr/bin/unshare", ["-m", "true"]) else { return }
        setenv(variable, "1", 1)
        var arguments = (["unshare", "-m", "--propagation", "private", "--"] + CommandLine.arguments).map { strdup($0) }
        if let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            arguments[5] = strdup(own)
        }
        execv("/usr/bin/unshare", arguments + [nil])
        unsetenv(variable)
    }

    static func mount(_ folder: String, megabytes: Int) -> Bool {
        succeeds("/bin/mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m,mode=755", "none", folder])
    }

    static func unmount(_ folder: String) { _ = succeeds("/bin/umount", ["-l", folder]) }

    private static func succeeds(_ program: String, _ arguments: [String]) -> Bool {
        let child = try? ChildProcess(
            program, arguments, environment: ["PATH": "/usr/bin:/bin"], output: .file("/dev/null"),
            errors: .file("/dev/null"))
        return child?.wait(seconds: 10)?.code == 0
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
