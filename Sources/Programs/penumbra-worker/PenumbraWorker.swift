import Glibc
import WorkerRuntime

@main
struct PenumbraWorker {
    static func main() {
        exit(WorkerProgram.run(Array(CommandLine.arguments.dropFirst())))
    }
}
