package import Scheduling
import WorkerProtocol

/// Another engine, which is not asked for what others have done of the run already: elements of a cluster, say.
package struct AdoptingEngine: Engine {
    private let inner: any Engine
    private let folder: SharedFolder

    package init(_ inner: any Engine, folder: SharedFolder) {
        self.inner = inner
        self.folder = folder
    }

    package func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async {
        var past = SlurmPast(of: folder)
        let (rest, pass) = AsyncStream.makeStream(of: EngineCommand.self)
        async let crew: Void = inner.run(rest, onEvent: onEvent)
        for await command in commands {
            if case .start(let lease) = command, let receipt = past.take(lease.spec) {
                onEvent(.adopted(lease.worker, lease.id, receipt))
            } else {
                pass.yield(command)
            }
        }
        pass.finish()
        await crew
    }
}
