package import FilterKitTesting

/// Tries a library with the contract of filters, whoever may write it and wherever it lies: in this process.
package enum PluginCheck {
    /// - Parameters:
    ///   - measuringMemory: only for a process that does nothing else.
    ///   - begin, report: as ``FilterContract/check(_:measuringMemory:begin:report:)`` has them.
    package static func run(
        _ path: String, measuringMemory: Bool = false, begin: (String) -> Void,
        report: (String, FilterContract.Outcome) -> Void
    ) {
        var check = "opening"
        begin(check)
        do throws(PluginProblem) {
            try PluginFolder.checkIsFile(path)
            guard case .plugin(let plugin) = try PluginLibrary.open(Candidate(path: path)) else {
                throw PluginProblem("does not export \(PluginLibrary.entryName)")
            }
            report("opening", .kept)
            check = "description"
            begin(check)
            _ = try PluginDescription(plugin)
            FilterContract.check(plugin, measuringMemory: measuringMemory, begin: begin, report: report)
        } catch {
            report(check, .broken("it \(error)"))
        }
    }
}
