import FoundationEssentials
import JobModel
import Planning
import SafeFiles
import Settings

/// The config file that `penumbra config --init` writes.
enum ConfigTemplate {
    /// The shipped config file, with every key commented out, so that it changes no setting.
    static var text: String {
        let shipped = String(decoding: PackageResources.config_yaml, as: UTF8.self)
        let lines = shipped.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { $0.isEmpty || $0.hasPrefix("#") ? String($0) : "# \($0)" }.joined(separator: "\n")
    }

    /// Writes the file where Penumbra looks for it, and returns its path.
    ///
    /// - Parameter named: the path that the user gave.
    static func write(named: String?) throws(FarmError) -> String {
        let environment = ProcessInfo.processInfo.environment
        let given = named ?? environment["PENUMBRA_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        let path = PathText.normalized(
            given ?? Settings.userConfigFile(environment, homeFolder: Machine.homeFolder(environment)),
            in: currentFolder())
        do {
            _ = try FileSystem.createFolders(PathText.folder(of: path))
        } catch {
            throw FarmError(.storage, error.message(orChoose: "another path by --config"))
        }
        try NewFile.write(text, to: path, "the config file", option: "--init")
        return path
    }
}
