import ArgumentParser
import Foundation
import JobModel
import Planning
import RenderFarm

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the service: a queue of jobs for people and programs.",
        discussion: "Starts penumbra-service in place of this process. 'penumbra serve --help' lists its options.",
        helpNames: [])

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Options of penumbra-service.", valueName: "options"))
    var arguments: [String] = []

    private static let program = "penumbra-service"

    func run() throws {
        // It is installed beside this program.
        let path = PathNames.joined(programFolder(), Self.program)
        let words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        execv(path, words)
        throw FarmError(
            .unavailable,
            "\(PathText.visible(path)) cannot be started: \(String(cString: strerror(errno)))\n   = install \(Self.program) beside "
                + "penumbra")
    }
}
