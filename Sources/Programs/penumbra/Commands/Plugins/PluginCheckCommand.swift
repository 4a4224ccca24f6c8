import ArgumentParser
import Engines
import Foundation
import JobModel
import Planning
import RenderFarm
import Settings
import WorkerProtocol

struct PluginCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Try plugins with the contract of filters.",
        discussion: """
            Each library is opened in a process of its own and asked for pictures of every sample format and number of
            channels, whole and in tiles, from several threads, with extreme values and extreme input. Of a folder, each
            lib….so in it is tried. The exit code is 1 when one of them breaks the contract.
            """)

    @Argument(
        help: ArgumentHelp("Plugins' libraries, or folders of them.", valueName: "file"),
        completion: .file(extensions: ["so"]))
    var files: [String]

    @OptionGroup(title: "Place Options") var place: LocationOptions

    @Flag(help: "Print the findings as JSON.")
    var json = false

    private struct Record: Encodable {
        let file: String
        let check: String
        let outcome: String
        let words: String?
    }

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            let installation = Farm(try Settings.load(place))
            var records: [Record] = []
            for file in try files.flatMap(Self.libraries) {
                let findings = try await check(file, installation)
                records += findings.compactMap { record($0, of: file) }
                if !json { Self.lines(findings, file).forEach(Console.print) }
            }
            if json { printJSON(records) }
            return records.contains { $0.outcome == "broken" } ? .someFailed : .done
        }
    }

    /// A folder stands for the libraries in it that would be taken for plugins.
    private static func libraries(_ name: String) throws -> [String] {
        var isFolder: ObjCBool = false
        let path = PathText.normalized(name, in: currentFolder())
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return [name]
        }
        let files: [String]
        do {
            files = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw FarmError(
                .missingInput, "\(PathText.visible(name)): the folder cannot be read; correct its permissions")
        }
        let libraries = files.filter { $0.hasPrefix("lib") && $0.hasSuffix(".so") }.sorted()
        guard !libraries.isEmpty else {
            throw FarmError(
                .missingInput, "\(PathText.visible(name)): there is no lib….so in this folder; name a plugin's library")
        }
        let folder = name.hasSuffix("/") ? name : "\(name)/"
        return libraries.map { folder + $0 }
    }

    private func check(_ file: String, _ installation: Farm) async throws -> [PluginFinding] {
        let path = realPath(PathText.normalized(file, in: currentFolder()))
        guard isReadable(path) else {
            throw FarmError(.missingInput, "\(PathText.visible(file)): there is no such file")
        }
        do {
            return try await installation.worker.check(plugin: path)
        } catch {
            throw FarmError(.unavailable, error.message)
        }
    }

    private func record(_ finding: PluginFinding, of file: String) -> Record? {
        switch finding {
        case .begins: nil
        case .kept(let name): Record(file: file, check: name, outcome: "kept", words: nil)
        case .broken(let name, let how): Record(file: file, check: name, outcome: "broken", words: how)
        case .skipped(let name, let why): Record(file: file, check: name, outcome: "skipped", words: why)
        }
    }

    private static func lines(_ findings: [PluginFinding], _ file: String) -> [String] {
        [PathText.visible(file)]
            + findings.compactMap { finding in
                switch finding {
                case .begins: nil
                case .kept(let name): "  ok       \(name)"
                case .broken(let name, let how): "  BROKEN   \(name): \(VisibleText.message(how))"
                case .skipped(let name, let why): "  skipped  \(name): \(VisibleText.message(why))"
                }
            }
    }
}
