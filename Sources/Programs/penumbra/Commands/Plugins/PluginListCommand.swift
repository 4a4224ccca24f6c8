import ArgumentParser
import Catalogs
import Engines
import JobModel
import RenderFarm
import Settings
import WorkerProtocol

struct PluginListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the plugins that your workers use, with what pins them.")

    @OptionGroup(title: "Place Options") var place: LocationOptions

    @Flag(help: "Print the list as JSON.")
    var json = false

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            let settings = try Settings.load(place)
            let list = try await Farm(settings).pluginList()
            if json {
                printJSON(list)
            } else {
                Self.table(list, pins: settings.pluginPins.value).forEach(Console.print)
            }
            (list.problems + list.unpinned.map(\.description)).forEach(Console.complain)
            return list.problems.isEmpty ? .done : .unavailable
        }
    }

    private static func table(_ list: PluginList, pins: [PluginPin]) -> [String] {
        guard !list.plugins.isEmpty else {
            return list.problems.isEmpty && list.unpinned.isEmpty
                ? ["no plugins; 'plugin_folders' in the config file names where they are"] : []
        }
        var table = Table(["filter", "version", "pinned", "file", "sha256"])
        for plugin in list.plugins {
            let isPinned = pins.contains { $0.sha256 == plugin.sha256 && $0.file == PathNames.last(of: plugin.path) }
            table.add(plugin.name, plugin.version, isPinned ? "yes" : "no", plugin.path, plugin.sha256)
        }
        return table.lines
    }
}

extension Farm {
    /// - Throws: ``FarmError`` with the exit code of a missing component.
    func pluginList() async throws -> PluginList {
        do {
            return try await worker.listPlugins()
        } catch {
            throw FarmError(.unavailable, error.message)
        }
    }
}
