import Confinement
import Coordination
package import Engines
import RenderFarm
package import Settings
import WorkerProtocol

/// Starts the workers that make pictures for the page, with a lower priority than those of runs.
package struct PictureWorkers: Sendable {
    private let farm: Farm
    private let program: String
    private let confined: ConfinedPlaces

    /// - Parameters:
    ///   - program: the path of `penumbra`.
    ///   - confined: what a worker may read beside the folders of its pictures.
    package init(_ settings: Settings, program: String, confined: ConfinedPlaces) {
        farm = Farm(settings)
        self.program = program
        self.confined = confined
    }

    /// In bytes. A worker holds no larger part of a picture at once, and streams the others. It has less than a worker of a run, because
    /// the memory of this machine is the runs'.
    package var memory: Int { min(farm.runSettings.frameMemory, 256 << 20) }

    /// Of their processes. On a machine that runs keep busy, a worker gets a tenth of a processor. With the lowest priority it would get a
    /// hundredth, and whoever looks at a picture would wait for a minute.
    private static let niceness = 10

    /// An engine with one worker.
    ///
    /// - Parameters:
    ///   - roots: The kernel keeps the worker within these folders, which it may only read. Nil for a worker with all rights of this
    ///     user, as the workers of such runs have.
    ///   - work: the only folder where a worker with roots may write.
    ///   - readable: more folders that it may read.
    package func engine(_ roots: [String]?, work: String, readable: [String] = []) throws -> any Engine {
        try farm.secureDescriptors(workers: 1)
        let worker = farm.worker
        var environment = worker.environment
        environment["PENUMBRA_NICE"] = String(max(Self.niceness, Int(environment["PENUMBRA_NICE"] ?? "") ?? 0))
        environment["TMPDIR"] = work
        var (executable, arguments) = (worker.executable, worker.arguments)
        var restrictThread: (@Sendable () throws -> Void)?
        if let roots {
            var places = Confinement(
                .init(programs: confined.programs, stateFolder: work, readable: confined.readable, roots: []))
            places.add(Confinement(readable: (roots + readable).map { .init($0) }))
            (executable, arguments) = (program, ["confined"] + places.arguments(for: [executable] + arguments))
            // This process may open everything, but what it opens for the worker must be in the same folders.
            restrictThread = { [places] in try places.restrictThread() }
        }
        var command = WorkerCommand(
            executable: executable, arguments: arguments, environment: environment,
            inheritedVariables: worker.inheritedVariables, plugins: worker.plugins, restrictThread: restrictThread)
        command.readable = worker.readable
        command.limits = worker.limits
        return LocalEngine(command: command)
    }
}
