import ArgumentParser

/// Filters as plugins: begun, tried, listed.
struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin", abstract: "Begin, try and list filter plugins.",
        subcommands: [PluginNewCommand.self, PluginCheckCommand.self, PluginListCommand.self])
}
