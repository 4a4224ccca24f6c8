import Catalogs
import Glibc
import WorkerProtocol

/// `penumbra-worker`: what a worker process does from its start to its end.
public enum WorkerProgram {
    private static let usage = """
        penumbra-worker renders for penumbra, which starts it.

          penumbra-worker             takes orders from standard input, sends reports to standard output
          penumbra-worker --introduce likewise, and first says what it offers
          penumbra-worker describe    prints what it offers, and what it refused to open, as JSON
          penumbra-worker examine     tells of chains, on standard input, what changes nothing or cannot be had
          penumbra-worker list-plugins        prints the plugins that it uses, as JSON
          penumbra-worker check-plugin FILE   tries a plugin with the contract of filters
          penumbra-worker --version   prints its version

        """

    /// - Returns: the exit code.
    public static func run(_ arguments: [String]) -> Int32 {
        ignoreSignals()
        Shortage.saveAddresses()
        switch arguments {
        case []: return serve()
        case [Greeting.introductionFlag]: return serve(introducing: true)
        case ["describe"]: return describe()
        case ["examine"]: return examine()
        case ["list-plugins"]: return attempt { try PluginCommands.list() }
        case let words where words.count == 2 && words[0] == "check-plugin":
            return attempt { try PluginCommands.check(words[1]) }
        case ["--version"]:
            print("penumbra-worker \(Version.penumbra)")
            return 0
        case ["--help"], ["-h"], ["help"]:
            print(usage, terminator: "")
            return 0
        default:
            complain(usage)
            return 64
        }
    }

    /// A coordinator that is gone, and a limit on file sizes, are errors of the calls that meet them.
    private static func ignoreSignals() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    private static func describe() -> Int32 {
        let channel = Channel()
        return attempt { try channel.send(bytes: FrameCodec.json(greeting(of: toolbox(), introducing: true))) }
    }

    private static func examine() -> Int32 {
        let channel = Channel()
        return attempt { try ChainExaminer.answer(try toolbox(), on: channel) }
    }

    /// The exit code of what may throw.
    private static func attempt(_ body: () throws -> Void) -> Int32 {
        do {
            try body()
            return 0
        } catch {
            complain("\(error)\n")
            return 69
        }
    }

    /// Plugins are opened first: that needs a process with one thread.
    private static func toolbox() throws -> Toolbox {
        let cancellation = TaskCancellation()
        ProcessState.watch([STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO])
        ProcessState.record()
        // Run times of languages set things up as they please when they are opened. That is put back, and nobody is blamed.
        let installed = try ProcessState.kept { Result { try InstalledPlugins(cancellation: cancellation) } }.result
            .get()
        ignoreSignals()
        try Toolbox.startLibraries()
        return try Toolbox(installed, cancellation: cancellation)
    }

    private static func greeting(of toolbox: Toolbox, introducing: Bool) -> Greeting {
        Greeting(
            protocolVersion: Greeting.currentVersion, catalog: introducing ? toolbox.catalog : nil,
            refused: toolbox.refused)
    }

    private static func serve(introducing: Bool = false) -> Int32 {
        ProcessPriority.apply { name in getenv(name).map { String(cString: $0) } }
        let channel = Channel()
        do {
            let toolbox = try toolbox()
            let memory = MemoryWatch { name in getenv(name).map { String(cString: $0) } }
            let orders = try OrderQueue(channel)
            // A worker that could not render anything says so before it gets a picture that would be blamed.
            if let shortage = Shortage.found(threads: TaskFailure.threads, for: "render") { throw shortage }
            try channel.send(.ready(greeting(of: toolbox, introducing: introducing)))
            let drawing = DrawingWatch(channel)
            try Heartbeat(channel, drawing).start()
            channel.recordCrashes()
            // With the handlers of now, which plugins and libraries may have added to.
            ProcessState.record()
            let files = FileWatch()
            while true {
                let (lease, spec) = orders.next()
                toolbox.cancellation.reset()
                drawing.begin(lease)
                let runner = TaskRunner(toolbox: toolbox, watch: PluginWatch(lease: lease, channel: channel))
                let report = runner.report(on: spec, lease)
                guard drawing.end() else { continue }
                if report.isFault || memory.isExceeded(beside: toolbox.pictures.bytes) || files.isExceeded {
                    try channel.send(.worn(lease))
                }
                try channel.send(report)
            }
        } catch {
            // The coordinator is gone, no thread can be had, or libvips does not start: nothing is left to do here.
            complain("\(error)\n")
            return 69
        }
    }

    private static func complain(_ text: String) {
        var text = text
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension Report {
    /// True when a plugin did in this process what no plugin may do.
    fileprivate var isFault: Bool {
        if case .failed(_, let failure) = self, case .plugin = failure.kind { true } else { false }
    }
}
